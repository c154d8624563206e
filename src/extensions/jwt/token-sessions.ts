import { explicitCalls, type SessionCall } from '../../explicit.ts'
import { attach, coreOf, type Login, type SessionLimiter, TOKEN_SESSION } from '../../extend.ts'
import { BoundedMap } from '../../ground/bounded-map.ts'
import { messageOf } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { logFailure } from '../../ground/logger.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'
import { callable, requireObject, resolveDeclared } from '../../ground/option-checks.ts'
import { isUserId, type UserId } from '../../ground/user-id.ts'
import { type RequestState, type Sessmgr, tokenOf } from '../../index.ts'
import type { LiveConnections } from '../../live.ts'
import {
  OPTIONS,
  type TokenClaims,
  type TokenSessionOptions,
  type TokenSessions,
  type VerifiedClaims,
} from './token-options.ts'

/**
 * Applies the limit to access and refresh tokens that your application signs and verifies.
 *
 * Call this once, when your application starts.
 *
 * @throws SessmgrError `invalid_option` for an invalid argument.
 * @example
 * const tokens = tokenSessions(limiter, { sessionMs: 7 * 86_400_000 })
 */
export function tokenSessions(limiter: Sessmgr, options: TokenSessionOptions = {}): TokenSessions {
  const { limiter: limit, options: settings } = coreOf(limiter, 'tokenSessions(limiter)')
  requireObject('The options of tokenSessions()', options)
  const { sessionMs, graceMs, onReuse, live } = resolveDeclared(OPTIONS, options)
  // Only the client's tokens contain these sessions, so there is nothing to delete.
  const calls = explicitCalls(limiter, { exists: () => false, destroy() {} })
  const verdicts = live && new LiveVerdicts(live, limit)
  const unanswered = new Unanswered(graceMs)
  const uses = new Uses(limit, Math.min(settings.touchEveryMs, sessionMs / 10))
  const claimsOf = (userId: UserId, sid: string, rot: number, at: number, endsAt = Number.MAX_VALUE): TokenClaims => {
    const [iat, exp] = [at, Math.min(at + sessionMs, endsAt)].map((ms) => Math.floor(ms / 1000)) as [number, number]
    return { sub: String(userId), sid, rot, iat, exp }
  }

  return {
    async login(login, sign) {
      callable()('sign', sign)
      const sid = `jwt_${nodeCrypto().randomBytes(16).toString('base64url')}`
      const admission = await calls.login(login, async () => ({ sessionId: sid, ttlMs: sessionMs }))
      if (!admission.admitted) return admission
      const { userId, createdAt, expiresAt } = admission.session
      uses.recorded(sid)
      try {
        return { ...admission, tokens: await sign(claimsOf(userId, sid, 0, createdAt, expiresAt)) }
      } catch (error) {
        await calls.logout({ userId, sessionId: sid }).catch((reason) => {
          const message = 'A login could not be undone after signing its tokens failed. Its session will expire.'
          logFailure(settings.logger, message, { error: messageOf(reason) })
        })
        throw error
      }
    },
    async refresh(claims, sign) {
      callable()('sign', sign)
      const session = sessionIn(claims)
      const rot = rotationIn(claims)
      if (!session) return { live: false, ended: NO_TOKEN }
      if (rot === undefined) return { live: false, ended: NEVER }
      const { userId, sessionId } = session
      const token = tokenOf(sessionId)
      return unanswered.answer(`${sessionId} ${rot}`, async (graceMs) => {
        const rotation = await limit.rotate(userId, token, rot, { graceMs, ttlMs: sessionMs })
        const isReused = rotation?.outcome === 'reused'
        let state = await calls.check(session)
        if (isReused && state.session) {
          await limit.endReused(userId, token, onReuse === 'user')
          state = await calls.check(session)
        }
        if (!rotation || isReused || !state.session) return { live: false, ended: state.ended ?? NEVER }
        if (rotation.outcome === 'rotated') uses.recorded(sessionId)
        const tokens = await sign(claimsOf(userId, sessionId, rotation.number, rotation.at, rotation.endsAt))
        return { live: true, tokens, repeated: rotation.outcome === 'repeated' }
      })
    },
    async check(claims, request) {
      const session = sessionIn(claims)
      if (!session) {
        if (request) attach(request, '', {})
        return { ended: NO_TOKEN }
      }
      const ask = () => calls.check(session)
      const state: RequestState = await (verdicts ? verdicts.check(session, ask) : ask())
      if (state.session) uses.note(session)
      if (request) attach(request, session.sessionId, state)
      return state
    },
    async logout(claims) {
      const session = sessionIn(claims)
      if (session) await calls.logout(session)
    },
  }
}

/** The end that is reported for a session that this limiter never registered. */
const NEVER = Object.freeze({ reason: 'ended' })
/**
 * Reported for claims that name no session, as of a request without a token. Nothing has ended, but an application that
 * refuses a request because of `ended` must refuse this one.
 */
const NO_TOKEN = Object.freeze({ reason: 'missing' })

/** Returns the session that claims identify, or undefined if they are invalid. */
function sessionIn(claims: VerifiedClaims): SessionCall | undefined {
  if (typeof claims === 'string') {
    throw invalidOption('Pass the claims of a verified token, { sub, sid }, not the token itself')
  }
  const { sub, sid } = Object(claims) as VerifiedClaims
  const isValid = isUserId(sub) && typeof sid === 'string' && TOKEN_SESSION.test(sid)
  return isValid ? { userId: sub, sessionId: sid } : undefined
}

/** Returns the number of the rotation, or undefined if it is invalid. The next number must also be safe. */
function rotationIn(claims: VerifiedClaims): number | undefined {
  const { rot } = Object(claims) as VerifiedClaims
  const isValid = Number.isSafeInteger(rot) && (rot as number) >= 0 && rot !== Number.MAX_SAFE_INTEGER
  return isValid ? (rot as number) : undefined
}

/** Capacity of each cache, in sessions or refreshes. */
const MOST_REMEMBERED = 50_000

/**
 * Remembers refreshes that failed in this process. If a client keeps repeating one, its token stays valid until the
 * store is back, however long that takes.
 */
class Unanswered {
  readonly #graceMs: number
  readonly #refreshes = new BoundedMap<string, { readonly since: number; readonly last: number }>(MOST_REMEMBERED)

  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  /** Runs a refresh. Extends its grace period by the time since the first failure, which may have rotated the token. */
  async answer<Result>(key: string, refresh: (graceMs: number) => Promise<Result>): Promise<Result> {
    const now = performance.now()
    const before = this.#refreshes.get(key)
    const since = before && now - before.last < this.#graceMs ? before.since : now
    try {
      const result = await refresh(this.#graceMs + (now - since))
      this.#refreshes.delete(key)
      return result
    } catch (error) {
      this.#refreshes.set(key, { since, last: performance.now() })
      throw error
    }
  }
}

/** Records the use of sessions in the background, without changing their expiry. */
class Uses {
  readonly #limit: SessionLimiter
  readonly #everyMs: number
  /** When this process last recorded a use, by session id. */
  readonly #recorded = new BoundedMap<string, number>(MOST_REMEMBERED)

  constructor(limit: SessionLimiter, everyMs: number) {
    this.#limit = limit
    this.#everyMs = everyMs
  }

  recorded(sessionId: string): void {
    this.#recorded.set(sessionId, performance.now())
  }

  /** Records a use, unless this process has just recorded one. Ignores failures: a later use makes up for them. */
  note({ userId, sessionId }: SessionCall): void {
    const at = this.#recorded.get(sessionId)
    if (at !== undefined && performance.now() - at < this.#everyMs) return
    this.recorded(sessionId)
    const touch = async () => this.#limit.touch(userId, tokenOf(sessionId), undefined, this.#everyMs / 2)
    touch().catch(() => {})
  }
}

/** How long a live session is remembered after its last check. */
const UNUSED_MS = 60_000
const BEAT_MS = 1000
/** If two beats are further apart than this, the process was suspended, and may have missed ends of sessions. */
const PAUSE_MS = 3000

interface Remembered extends Login {
  usedAt: number
  readonly stop: () => void
}

type Ask = () => RequestState | Promise<RequestState>

/** Remembers sessions that were live when checked, until their end is reported. */
class LiveVerdicts {
  readonly #live: Pick<LiveConnections, 'track'>
  /** The sessions by id, least recently used first. */
  readonly #remembered = new Map<string, Remembered>()
  /** Number of site-wide logouts by this process. */
  #logouts = 0
  #timer: ReturnType<typeof setInterval> | undefined
  #beatAt = 0

  constructor(live: Pick<LiveConnections, 'track'>, limit: SessionLimiter) {
    this.#live = live
    // Forget all sessions now, because their connections close later, spread over time.
    limit.onEnd((ended) => {
      if (ended) return
      this.#logouts += 1
      this.#forgetUnused(Number.POSITIVE_INFINITY)
    })
  }

  /** Returns the state of a session. Calls `ask` only if the session is not remembered as live. */
  check(session: SessionCall, ask: Ask): RequestState | Promise<RequestState> {
    const { userId, sessionId } = session
    const now = performance.now()
    if (now - this.#beatAt > PAUSE_MS) this.#beat()
    const own = this.#remembered.get(sessionId)
    if (own?.userId !== userId) return this.#ask(session, ask)
    own.usedAt = now
    this.#remembered.delete(sessionId)
    this.#remembered.set(sessionId, own)
    return { session: { userId, token: own.token } }
  }

  /** Asks about a session. Tracks it first, so that no end is missed in between. */
  async #ask({ userId, sessionId }: SessionCall, ask: Ask): Promise<RequestState> {
    const session = { userId, token: tokenOf(sessionId) }
    const logouts = this.#logouts
    let isOver = false
    const stop = this.#live.track(session, () => {
      isOver = true
      if (this.#remembered.get(sessionId) === own) this.#remembered.delete(sessionId)
    })
    const own: Remembered = { ...session, usedAt: performance.now(), stop }
    let state: RequestState = {}
    try {
      state = await ask()
    } finally {
      // The end of a session on which another depends is not reported for that one.
      const isOwn = state.session && state.session.actor === undefined
      if (isOwn && !isOver && logouts === this.#logouts) this.#remember(sessionId, own)
      else stop()
    }
    return state
  }

  #remember(sessionId: string, own: Remembered): void {
    this.#forget(sessionId)
    this.#remembered.set(sessionId, own)
    const [oldest] = this.#remembered.keys() as Iterable<string> as [string]
    if (this.#remembered.size > MOST_REMEMBERED) this.#forget(oldest)
    if (this.#timer) return
    this.#beatAt = performance.now()
    this.#timer = setInterval(() => this.#beat(), BEAT_MS).unref()
  }

  /** Forgets sessions that are no longer used, or all of them if this process was suspended for a while. */
  #beat(): void {
    const now = performance.now()
    this.#forgetUnused(now - this.#beatAt > PAUSE_MS ? Number.POSITIVE_INFINITY : now - UNUSED_MS)
    this.#beatAt = now
    if (this.#remembered.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #forgetUnused(before: number): void {
    for (const [sessionId, { usedAt }] of this.#remembered) {
      if (usedAt >= before) break
      this.#forget(sessionId)
    }
  }

  #forget(sessionId: string): void {
    this.#remembered.get(sessionId)?.stop()
    this.#remembered.delete(sessionId)
  }
}
