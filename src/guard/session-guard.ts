import { BoundedMap } from '../ground/bounded-map.ts'
import { errorText } from '../ground/error-text.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessionVerdict } from '../limiter/check-session.ts'
import { type Token, tokenOf } from '../sessions/token.ts'
import { GuardContext, type LoginSession } from './guard-context.ts'
import type { GuardedRequest, HostSessionData, SignedOutReason } from './host-types.ts'
import type { SeenSession } from './memory/seen-sessions.ts'
import { Standing } from './request/standing.ts'
import { saveSession } from './save-session.ts'
import { readMarker, type SessionMarker } from './session-marks.ts'
import { expiryOf, freshness, sessionTtl } from './session-ttl.ts'

/** What a session in the store turned out to be. */
export interface Inspected {
  /** The data to go on with; undefined when there is no session, or no longer. */
  readonly data?: HostSessionData
  readonly session?: LoginSession
  /** Whether the data of a login session has no valid marker yet: whoever goes on with it has to mark it. */
  readonly needsMarker?: boolean
  readonly ended?: SignedOutReason
}

/** Whose a session is, and what it is worth. */
interface Judgement {
  readonly userId: UserId
  readonly verdict: SessionVerdict
  readonly needsMarker: boolean
}

/** What becomes of one session of a session store as it is read, written, used and destroyed. */
export class SessionGuard extends GuardContext {
  /** Why the sessions that ended last are over, by raw id: a browser may ask several times. */
  readonly #reasons = new BoundedMap<string, SignedOutReason>(10_000)

  /** Reads a session, and asks the limiter about it in the same tick when its user is known. `read`: a call of its own. */
  async load(sessionId: string, read?: () => Promise<HostSessionData | undefined>): Promise<Inspected> {
    const known = this.seen.get(sessionId)
    const early = known && this.limiter.check(known.userId, known.token)
    early?.catch(() => {})
    const data = await (read ? read() : this.calls.get(sessionId))
    if (data) return this.inspect(sessionId, data, known, early)
    this.seen.delete(sessionId)
    const ended = this.#reasons.get(sessionId)
    return ended ? { ended } : {}
  }

  /** Judges a session that was read. One that is over is removed from the store. */
  async inspect(
    sessionId: string,
    data: HostSessionData,
    known: SeenSession | undefined = this.seen.get(sessionId),
    early?: Promise<SessionVerdict>,
  ): Promise<Inspected> {
    const token = known?.token ?? tokenOf(sessionId)
    const marker = this.marks.read(data, token) ?? (await this.#readAgain(data, token))
    const judged = (marker && (await this.#judge(marker, early))) ?? (await this.#adopt(sessionId, data))
    if (!judged) return { data }
    const { userId, verdict, needsMarker } = judged
    if (verdict.live) {
      if (known?.userId !== userId) this.seen.note(sessionId, userId, token)
      return { data, session: { userId, token }, needsMarker }
    }
    this.seen.delete(sessionId)
    if (verdict.reason === 'logout_all') await this.limiter.invalidate(userId, sessionId)
    else await this.calls.destroy(sessionId)
    this.#reasons.set(sessionId, verdict.reason)
    return { ended: verdict.reason }
  }

  /** Reads a marker for which this process has yet to learn the secret of the site, or the registry of now. */
  async #readAgain(data: HostSessionData, token: Token): Promise<SessionMarker | undefined> {
    await this.prepare(data, token)
    if (!readMarker(data, token)) return undefined
    const marker = this.marks.read(data, token)
    if (marker) return marker
    // Another process may have learned before this one that the registry is another.
    await this.marks.hasChanged()
    return this.marks.read(data, token)
  }

  /** Judges a session with a marker; undefined when the registry that signed it has been forgotten. */
  async #judge(marker: SessionMarker, early?: Promise<SessionVerdict>): Promise<Judgement | undefined> {
    const { userId, token } = marker
    const needsMarker = !this.marks.isNewest(marker)
    const verdict = await (early ?? this.limiter.check(userId, token))
    const isEnded = !verdict.live && verdict.reason === 'ended'
    // A registry that was uninstalled knows nothing of the session's end: nobody is signed out for that.
    return isEnded && (await this.marks.hasChanged()) ? undefined : { userId, verdict, needsMarker }
  }

  /** Takes over a session that this registry does not know; undefined when nobody is signed in with it. */
  async #adopt(sessionId: string, data: HostSessionData): Promise<Judgement | undefined> {
    const userId = this.options.sessionUser(data)
    if (userId === undefined) return undefined
    const session = { sessionId, ttlMs: sessionTtl(data), ip: null, userAgent: null }
    return { userId, verdict: await this.limiter.adopt(userId, session), needsMarker: true }
  }

  /** Writes a session, unless it has been ended meanwhile. `request`: whose session it is, where that is known. */
  save(sessionId: string, data: HostSessionData, request?: GuardedRequest): Promise<void> {
    return saveSession(this, sessionId, data, request)
  }

  /** Tells whether noting the use of a session again can wait, for the registry and for the store. */
  canWait(sessionId: string, data: HostSessionData): boolean {
    // Without an expiry in the cookie the store alone knows how long a session lasts, and has to hear of every use.
    return Boolean(expiryOf(data)) && this.seen.wasJustTouched(sessionId, data, this.options.touchEveryMs)
  }

  /** Notes that a session was used. Logs a failure: the request has its answer, which an error would only break off. */
  async touch(sessionId: string, data: HostSessionData): Promise<void> {
    try {
      await this.#touchEverywhere(sessionId, data)
    } catch (error) {
      const message = 'That a session is in use could not be noted; it may expire too early.'
      this.options.logger.warn(message, { token: this.tokenFor(sessionId), error: errorText(error, sessionId) })
    }
  }

  async #touchEverywhere(sessionId: string, data: HostSessionData): Promise<void> {
    const marker = this.marks.read(data, this.seen.get(sessionId)?.token ?? tokenOf(sessionId))
    if (!marker || this.seen.wasJustTouched(sessionId, data, this.options.touchEveryMs))
      return this.calls.touch(sessionId, data)
    this.seen.noteTouch(sessionId, data)
    const { userId, token } = marker
    const registered = this.limiter.touch(userId, token, sessionTtl(data), freshness(data, this.options.touchEveryMs))
    await Promise.all([registered, this.calls.touch(sessionId, data)])
    if ((await registered) || (await this.marks.hasChanged())) return
    // Its record has expired before it, or it has just been ended: it counts no longer, so it must not go on.
    this.seen.delete(sessionId)
    await this.calls.destroy(sessionId)
  }

  /** Destroys a session and frees its slot. `request`: the one that gives it up, where that is known. */
  async destroy(sessionId: string, request?: object): Promise<void> {
    const token = this.tokenFor(sessionId)
    const wasLive = this.#free(sessionId)
    Standing.of(request)?.giveUp(token, wasLive)
    await wasLive
    await this.calls.destroy(sessionId)
  }

  /** Frees the slot of a session, if it has one. Resolves true when it was live until then. */
  async #free(sessionId: string): Promise<boolean> {
    const userId = this.seen.get(sessionId)?.userId ?? (await this.#registeredUserInStore(sessionId))
    return userId !== undefined && this.release(sessionId, userId)
  }

  async #registeredUserInStore(sessionId: string): Promise<UserId | undefined> {
    const data = await this.calls.get(sessionId)
    if (!data) return undefined
    await this.prepare(data, tokenOf(sessionId))
    return this.markerOf(sessionId, data)?.userId
  }

  /** Ends the session that a visitor, perhaps signed in as `holder`, has left by logging in. Logs a failure. */
  async leave(sessionId: string, holder: UserId | undefined, request: object): Promise<void> {
    try {
      if (holder !== undefined) await this.giveUp(sessionId, holder, request)
      await this.calls.destroy(sessionId)
    } catch (error) {
      const message = 'The session that somebody left by logging in could not be ended; it expires by itself.'
      this.options.logger.warn(message, { token: tokenOf(sessionId), error: errorText(error, sessionId) })
    }
  }

  /** Notes that a request was loaded with a login session, or has got one by a login. */
  noteOrigin(request: object, data: HostSessionData, { userId, token }: LoginSession): void {
    Standing.at(request).noteOrigin(userId, token, this.options.sessionUser(data) !== undefined)
  }
}
