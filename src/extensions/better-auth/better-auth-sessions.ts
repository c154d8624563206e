import type { AuthContext } from 'better-auth'
import { createAuthEndpoint } from 'better-auth/api'
import {
  type Admission,
  type ExplicitCalls,
  explicitCalls,
  type JoinedSessions,
  type LoginCall,
} from '../../explicit.ts'
import { coreOf, type EstablishedSession, type ServiceCore } from '../../extend.ts'
import { BoundedMap } from '../../ground/bounded-map.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import { type RequestState, type Sessmgr, tokenOf } from '../../index.ts'
import { guardReads, type InternalAdapter, originalOf, type Visit } from './guard-reads.ts'

/** Capacity of each cache, in sessions. */
const KNOWN = 10_000
/** Name of the stored option with the time at which the plugin first ran with this store. */
const SINCE = 'sessmgr.better-auth'

/** A better-auth session. */
export interface BetterAuthSession {
  /** The raw session id. */
  readonly token: string
  /** Id of the user. */
  readonly userId: string
  /** When the user signed in. */
  readonly createdAt: Date
  /** When the session expires. */
  readonly expiresAt: Date
  /** Address of the client. */
  readonly ipAddress?: string | null | undefined
  /** User agent of the client. */
  readonly userAgent?: string | null | undefined
  /** Id of the administrator who impersonates the user. */
  readonly impersonatedBy?: string | null | undefined
  readonly [field: string]: unknown
}

/** Options of `sessionLimit`. */
export interface BetterAuthLimitOptions {
  /**
   * Returns whether a session counts toward the limit. One that does not is never refused and ends nothing. An
   * impersonation lasts only as long as the session that began it.
   *
   * @default all except impersonation
   */
  readonly counts?: ((session: BetterAuthSession) => boolean) | undefined
  /**
   * Where to redirect after a refused login, if its endpoint redirects, as for OAuth.
   *
   * @default better-auth's error page, with the code
   */
  readonly refusedUrl?: string | undefined
  /**
   * Sessions created before this time are registered on their next use. Later sessions end if not registered.
   *
   * @default the plugin's first start with this store
   */
  readonly adoptBefore?: Date | undefined
}

type NewSession = Pick<EstablishedSession, 'sessionId' | 'ttlMs' | 'takenUp'>

/** A session that a call has created in better-auth, but that is not registered yet. */
export interface CreatedSession {
  readonly userId: UserId
  /** A value that changes when the user's sessions are ended. Read when the session was created. */
  readonly before: Promise<string>
}

/** Returns the milliseconds until a session expires; at least 1. */
export const lifeOf = ({ expiresAt }: Pick<BetterAuthSession, 'expiresAt'>): number =>
  Math.max(1, Math.floor(new Date(expiresAt).getTime() - Date.now()))

/** Tracks which of better-auth's sessions are new, live, or about to be deleted. */
export class BetterAuthSessions implements JoinedSessions {
  readonly calls: ExplicitCalls
  readonly counts: (session: BetterAuthSession) => boolean
  readonly #adoption: Adoption
  readonly #limiter: Sessmgr
  /** Users by token. The user of a token never changes. */
  readonly #users = new BoundedMap<string, UserId>(KNOWN)
  /** New sessions whose tokens have not left this process. Sessions of failed calls may stay here. */
  readonly #created = new BoundedMap<string, CreatedSession>(KNOWN)
  /** Tokens of sessions that are being ended. Deleting these in better-auth needs no further action. */
  readonly #leaving = new Set<string>()
  /** Tokens of sessions not registered when their deletion began. Another request may register them meanwhile. */
  readonly #unregistered = new BoundedMap<string, true>(KNOWN)
  #context: AuthContext | undefined

  constructor(limiter: Sessmgr, { counts = (it) => !it.impersonatedBy, adoptBefore }: BetterAuthLimitOptions) {
    this.#limiter = limiter
    this.counts = counts
    this.calls = explicitCalls(limiter, this)
    this.#adoption = new Adoption(limiter, this.calls, adoptBefore)
  }

  get context(): AuthContext {
    if (!this.#context) throw new Error('sessionLimit() was used before betterAuth() started it.')
    return this.#context
  }

  start(context: AuthContext): void {
    this.#context = context
    // Other plugins' hooks run before ours and use `internalAdapter` and `options`. Both are guarded later, because
    // better-auth recreates them after every init.
    queueMicrotask(() => Object.assign(context, guardReads(this, context)))
    this.#adoption.start()
  }

  async exists(token: string): Promise<boolean> {
    const session = await this.#find(token)
    return session !== undefined && session.expiresAt.getTime() > Date.now()
  }

  async destroy(token: string): Promise<void> {
    // Other plugins' cleanup hooks work only inside an endpoint call.
    const remove = createAuthEndpoint('/sessmgr/end', { method: 'POST' }, () => this.#adapter.deleteSession(token))
    await this.#leave(token, async () => void (await remove({ context: this.context } as never)))
  }

  /** Records that a call creates a session. */
  note({ token = '', userId = '' }: Partial<BetterAuthSession>, visit: Visit | undefined): void {
    if (!visit) return
    const known = visit.created.map((each) => this.#created.get(each)).find((each) => each?.userId === userId)
    visit.created.push(token)
    this.#created.set(token, known ?? { userId, before: this.#endsOf(userId) })
  }

  /** Returns what `note` recorded about a new session, and forgets it. */
  takeNote(token: string): CreatedSession | undefined {
    const note = this.#created.get(token)
    this.#created.delete(token)
    return note
  }

  /** Registers a session that a call has created, unless the user's sessions have been ended since. */
  async register({ userId, before }: CreatedSession, login: LoginCall, session: NewSession): Promise<Admission> {
    const now = this.#endsOf(userId)
    // The session already exists, but its token has not left this process.
    const admission = await this.calls.login(login, async () => session)
    if (!admission.admitted) return admission
    try {
      if ((await before) === (await now)) return admission
      throw new SessmgrError('session_ended', 'Your sessions were ended during this login.')
    } catch (error) {
      await this.calls.logout({ userId, sessionId: session.sessionId })
      throw error
    }
  }

  /** Reads a value that changes whenever all sessions of a user, or all except one, are ended. */
  #endsOf(userId: UserId): Promise<string> {
    const { store } = coreOf(this.#limiter).options
    const mark = store.sessions.read(userId).then((it) => it.mark)
    const ends = Promise.all([mark, store.epoch.current()]).then((read) => JSON.stringify(read))
    // The login may fail before anything awaits this promise.
    ends.catch(() => {})
    return ends
  }

  /** Checks whether the session of a request is live. */
  async check(token: string): Promise<RequestState> {
    const { calls } = this
    let userId = this.#users.get(token)
    if (userId === undefined) {
      const session = await this.#find(token)
      if (!session) return calls.missing({ sessionId: token })
      userId = session.userId
      const counts = this.counts(session)
      const loggedInAt = new Date(session.createdAt).getTime()
      if (await this.#adoption.isOf(session, !counts && !session.impersonatedBy)) {
        const adopted = await calls.adopt({ userId, sessionId: token, ttlMs: lifeOf(session), counts, loggedInAt })
        if (!adopted.session) return adopted
        // If better-auth deleted the session meanwhile, it was not registered yet, so end it now.
        if (!(await this.#find(token))) await this.#limiter.sessions.end(userId, tokenOf(token))
      }
      this.#users.set(token, userId)
    }
    const state = await calls.check({ userId, sessionId: token })
    if (!state.session) this.#users.delete(token)
    return state
  }

  /** Records the new expiry that better-auth has set for a session. */
  async prolong(session: Partial<BetterAuthSession> | null): Promise<void> {
    const { token, userId, expiresAt } = session ?? {}
    if (!token || !userId || !expiresAt) return
    await this.calls.touch({ userId, sessionId: token, ttlMs: lifeOf({ expiresAt }) })
  }

  /** Ends a session that better-auth is about to delete. */
  async release(userId: UserId, token: string, visit?: Visit): Promise<void> {
    if (this.#leaving.has(token) || this.takeNote(token)) return
    const isOwn = visit?.token === token && visit.state.session !== undefined
    if (isOwn && visit.path !== '/sign-out') {
      // The call may replace its session with a new one, so the old one keeps its slot until the call ends.
      visit.isDropped = true
      return
    }
    this.#users.delete(token)
    if (isOwn) visit.isReleased = true
    await this.#leave(token, async () => {
      if (isOwn) return this.calls.logout({ userId, sessionId: token })
      const isEnded = await this.#limiter.sessions.end(userId, tokenOf(token))
      if (!isEnded) this.#unregistered.set(token, true)
    })
  }

  /** Forgets the sessions that an endpoint call has created, and ends the one that it has dropped. */
  async depart({ created, isDropped, state, token }: Visit): Promise<void> {
    for (const each of created) this.#created.delete(each)
    if (isDropped && state.session && token) await this.#limiter.sessions.end(state.session.userId, tokenOf(token))
  }

  /** Ends a session that better-auth has deleted, if it was registered in the meantime. */
  async releaseAgain(userId: UserId, token: string): Promise<void> {
    if (this.#unregistered.delete(token)) await this.#limiter.sessions.end(userId, tokenOf(token))
  }

  /** Ends all of a user's sessions, which better-auth is about to delete. */
  async releaseAll(userId: UserId, visit?: Visit): Promise<void> {
    const { sessions } = this.#limiter
    const own = visit?.state.session
    if (!own || own.userId !== userId) return void (await sessions.endAll(userId))
    await this.release(userId, visit.token ?? '', visit)
    // If the caller's own session has ended in the meantime, end all sessions.
    await sessions.endOthers(userId, own.token).catch(() => sessions.endAll(userId))
  }

  /** Checks whether a session has ended. If so, better-auth must not find it. */
  async isOver(token: string, visit?: Visit): Promise<boolean> {
    if (this.#created.has(token)) return false
    const { ended } = token === visit?.token ? visit.state : await this.check(token)
    return ended !== undefined
  }

  /** Returns the user of a session that this process has checked. */
  knownUserOf(token: string): UserId | undefined {
    return this.#users.get(token)
  }

  /** Returns the user of a session, looked up in better-auth if necessary. */
  async ownerOf(token: string): Promise<UserId | undefined> {
    return this.#users.get(token) ?? (await this.#find(token))?.userId
  }

  get #adapter(): InternalAdapter {
    return originalOf(this.context.internalAdapter)
  }

  async #find(token: string): Promise<BetterAuthSession | undefined> {
    return (await this.#adapter.findSession(token))?.session
  }

  /** Runs `end` for a session. In the meantime, ignores better-auth's deletion of the session. */
  async #leave(token: string, end: () => Promise<void>): Promise<void> {
    if (this.#leaving.has(token)) return
    this.#leaving.add(token)
    try {
      await end()
    } finally {
      this.#leaving.delete(token)
    }
  }
}

/** Decides which sessions are older than the plugin and have to be registered on their next use. */
class Adoption {
  readonly #core: ServiceCore
  readonly #calls: ExplicitCalls
  readonly #before: Date | undefined
  #started = 0
  #since: Promise<number> | undefined

  constructor(limiter: Sessmgr, calls: ExplicitCalls, before: Date | undefined) {
    this.#core = coreOf(limiter)
    this.#calls = calls
    this.#before = before
  }

  start(): void {
    this.#started = Date.now()
    this.#since = this.#firstStart()
    // If this fails, isOf() tries again.
    this.#since.catch(() => {})
  }

  /**
   * Checks whether a session may be adopted: it is older than the plugin, and not known to have ended.
   *
   * @param isOfAnyAge Whether it need not be older.
   */
  async isOf({ token, createdAt }: BetterAuthSession, isOfAnyAge: boolean): Promise<boolean> {
    this.#since ??= this.#firstStart()
    const before = isOfAnyAge ? Number.POSITIVE_INFINITY : (this.#before?.getTime() ?? (await this.#since))
    if (new Date(createdAt).getTime() >= before) return false
    const { ended } = await this.#calls.missing({ sessionId: token })
    return ended?.cause === undefined
  }

  /** Returns the time at which the plugin first ran with this store. */
  async #firstStart(): Promise<number> {
    try {
      const { options } = this.#core.options.store
      if (!(await options.get(SINCE))) await options.swap(SINCE, undefined, this.#started)
      return Number((await options.get(SINCE))?.value ?? this.#started)
    } catch (error) {
      this.#since = undefined
      throw error
    }
  }
}
