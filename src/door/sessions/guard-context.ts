import type { SiteSecrets } from '../../auth/site-secrets.ts'
import type { Logger } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { SessionVerdict } from '../../limiter/check-session.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import { tokenOf } from '../../sessions/session-record.ts'
import type { SessionUse } from '../../sessions/session-registry.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { HostSessionData } from '../host-types.ts'
import type { SessionPort } from '../port.ts'
import { warnOfOtherProcess } from '../warnings.ts'
import { type Judgement, KnownSessions, type KnownSessionsOptions, type LoginSession } from './known-sessions.ts'
import { PAIR_KEY, pairOf, type SessionPair } from './pair.ts'
import { lifeOf, type SeenSession, SessionLives } from './session-lives.ts'

export interface GuardOptions extends KnownSessionsOptions {
  /** Returns the user id in the data of a session that the guard does not know yet. */
  readonly sessionUser: (data: HostSessionData) => UserId | undefined
  readonly store: Pick<SessmgrStore, 'local' | 'transients' | 'sharesClient'>
  /** Knows the name of the registry. */
  readonly siteSecrets: SiteSecrets
  readonly logger: Logger
}

/** What the guard of one session store needs to read, write and touch sessions that carry a pair. */
export class GuardContext extends KnownSessions<GuardOptions> {
  declare readonly calls: SessionPort
  readonly lives: SessionLives
  /** The first sessions with data that were saved before any login. */
  readonly unnamed = new Set<string>()
  /** Whether the application has named the store, so that logins count on requests that do not pass sessmgr. */
  isNamed = false

  constructor(store: object, calls: SessionPort, limiter: SessionLimiter, options: GuardOptions) {
    super(store, calls, limiter, options)
    this.lives = new SessionLives(store, options.logger)
  }

  override belongsTo({ userId, token }: SeenSession, data: HostSessionData): boolean {
    const pair = pairOf(data, token)
    return pair?.userId === userId && pair.registry === this.options.siteSecrets.known?.registry
  }

  override isVisitors(data: HostSessionData): boolean {
    try {
      return data[PAIR_KEY] === undefined && this.options.sessionUser(data) === undefined
    } catch {
      return false
    }
  }

  override async judge(
    sessionId: string,
    data: HostSessionData,
    known: SeenSession | undefined,
    early: SessionVerdict | undefined,
  ): Promise<Judgement | undefined> {
    const pair = pairOf(data, known?.token ?? tokenOf(sessionId))
    // The limiter was asked about the user whom this process knows. Since then, another may have signed in with the same id.
    const isOfKnown = String(pair?.userId) === String(known?.userId)
    const judged = pair && (await judgePair(this, data, pair, isOfKnown, isOfKnown ? early : undefined))
    return judged ?? adopt(this, sessionId, data)
  }

  /**
   * Waits until the name of the registry is known, so that pairs can be written.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  async ready(): Promise<void> {
    if (!this.options.siteSecrets.known) await this.options.siteSecrets.load()
  }

  /** Returns the pair of a session, if it has one of its own. */
  pairOf(sessionId: string, data: HostSessionData): SessionPair | undefined {
    return data[PAIR_KEY] !== undefined ? pairOf(data, this.tokenFor(sessionId)) : undefined
  }

  /**
   * Reads the name of the registry again, and checks whether a pair names it. If not, the session was registered before
   * a restart or `uninstall`, so a registry that does not know it cannot tell that it has ended.
   */
  async isCurrent({ registry }: SessionPair): Promise<boolean> {
    return registry === (await this.options.siteSecrets.refresh()).registry
  }

  /** Returns a new pair. Without `ready()`, it names no registry, so the next request replaces it. */
  newPair({ userId, token, actor }: LoginSession): SessionPair {
    const registry = this.options.siteSecrets.known?.registry ?? ''
    return { userId, token, registry, ...(actor !== undefined && { acts: true }) }
  }

  /** Pairs a session with its user. */
  pair(sessionId: string, data: HostSessionData, login: LoginSession): void {
    this.seen.note(sessionId, login.userId, login.token)
    this.destroyed.delete(sessionId)
    // Enumerable, so that the framework sees a change. An adapter may have made the earlier pair invisible.
    Object.defineProperty(data, PAIR_KEY, {
      value: this.newPair(login),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }

  /** Notes that a login has registered a session with its full lifetime, so that its next use need not be recorded. */
  noteRegistered(sessionId: string, data: HostSessionData): void {
    // With `rolling`, uses count for longer than the lifetime of the login; see `spareMs`.
    const interval = this.lives.isRolling ? 0 : this.lives.touchInterval(data, this.options.touchEveryMs)
    this.seen.noteTouch(sessionId, data, interval)
    this.seen.noteStored(sessionId, 0)
  }

  override noteRecorded(seen: SeenSession, data: HostSessionData, use: SessionUse): void {
    if (performance.now() < seen.freshUntil) return
    try {
      const freshUntil = this.lives.freshUntil(data, use, this.options.touchEveryMs)
      if (freshUntil === undefined) return
      seen.life = lifeOf(data)
      seen.freshUntil = freshUntil
    } catch {
      // A `ttl` function of the application may expect a session object and throw. The use is then recorded as usual.
    }
  }

  /**
   * Records that a request has come with a session that was not used for a while. A request may take long, and until it
   * ends, its session must not count as idle. Failures are ignored: the end of the request records its use as well.
   */
  override noteArrival(seen: SeenSession, data: HostSessionData): void {
    const now = performance.now()
    if (now < seen.freshUntil || now < seen.arrivalUntil) return
    const interval = this.lives.touchInterval(data, this.options.touchEveryMs)
    // A session in regular use is not idle, and the end of this request records its use.
    if (now < seen.freshUntil + interval) return
    seen.arrivalUntil = now + interval
    if (interval > 0) this.limiter.touch(seen.userId, seen.token, undefined, interval / 2).catch(() => {})
  }

  /** Returns the user of a session, or undefined if it has none or its user cannot be read. */
  readonly userIn = (data: HostSessionData): UserId | undefined => {
    try {
      return this.options.sessionUser(data)
    } catch {
      return undefined
    }
  }

  /** Checks whether a session's store need not be touched, because it keeps the session for long enough. */
  canWaitInStore(sessionId: string, data: HostSessionData): boolean {
    return this.lives.isKnown(data) && (!this.lives.isRolling || this.seen.isStored(sessionId))
  }
}

/**
 * Checks a session with a pair. Resolves to undefined if the pair counts as none, so that the session is adopted.
 *
 * @param isSeen Whether this process has paired the session with the same user.
 */
async function judgePair(
  guard: GuardContext,
  data: HostSessionData,
  pair: SessionPair,
  isSeen: boolean,
  early: SessionVerdict | undefined,
): Promise<Judgement | undefined> {
  const { userId, token } = pair
  const { sessionUser, siteSecrets, store, logger } = guard.options
  await guard.ready()
  const verdict = early ?? (await guard.limiter.check(userId, token))
  const isUnknown = !verdict.live && verdict.reason === 'ended'
  // Another process may have noticed first that the registry has changed.
  const isKnown = !isUnknown && pair.registry === siteSecrets.known?.registry
  const isCurrent = isKnown || (await guard.isCurrent(pair))
  // Another process has paired the session again, with the registry in its own memory.
  if (!isCurrent && isSeen && store.local && !siteSecrets.wasForgotten) warnOfOtherProcess(logger)
  // The session may have been live when its registry was lost. A pair does not prove whose session it is.
  if (isUnknown && !isCurrent && !pair.acts && String(sessionUser(data)) === String(userId)) return undefined
  return { userId, verdict, needsPair: !isCurrent }
}

/** Adopts a session that this registry does not know. Resolves to undefined if it has no signed-in user. */
async function adopt(guard: GuardContext, sessionId: string, data: HostSessionData): Promise<Judgement | undefined> {
  const userId = guard.options.sessionUser(data)
  if (userId === undefined) return undefined
  await guard.ready()
  const session = { sessionId, ttlMs: guard.lives.ttlOf(data), ip: null, userAgent: null, device: null }
  return { userId, verdict: await guard.limiter.adopt(userId, session), needsPair: true }
}
