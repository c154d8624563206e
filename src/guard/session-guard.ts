import type { SiteSecrets } from '../auth/site-secrets.ts'
import { BoundedMap } from '../ground/bounded-map.ts'
import { errorText } from '../ground/error-text.ts'
import { SessmgrError } from '../ground/errors.ts'
import type { Logger } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessionVerdict } from '../limiter/check-session.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import { type Token, tokenOf } from '../sessions/token.ts'
import type { GuardedRequest, HostSessionData, RequestState, SignedOutReason } from './host-types.ts'
import type { Inspected } from './inspected.ts'
import { LoginsUnderWay } from './login/logins-under-way.ts'
import { type SessionMarker, whileMarked } from './marker/session-marker.ts'
import { SessionMarks } from './marker/session-marks.ts'
import { OriginSessions } from './memory/origin-sessions.ts'
import { SeenSessions } from './memory/seen-sessions.ts'
import { SessionJudge } from './session-judge.ts'
import { expiryOf, sessionTtl } from './session-ttl.ts'
import type { StoreCalls } from './stores/store-calls.ts'
import { UserWarnings } from './user-warnings.ts'

/** A login session as requests know it. */
export type LoginSession = NonNullable<RequestState['session']>

/** How sessions are guarded. */
export interface GuardOptions {
  /** Reads the user out of session data from before the guard. */
  readonly sessionUser: (data: HostSessionData) => UserId | undefined
  /** Milliseconds between two notes that a session is in use. */
  readonly touchEveryMs: number
  /** Sign what is written into a session. */
  readonly siteSecrets: SiteSecrets
  readonly logger: Logger
}

/** What becomes of one session of the host's store as it is read, written, used and destroyed. */
export class SessionGuard {
  readonly logins = new LoginsUnderWay()
  readonly warnings: UserWarnings
  readonly marks: SessionMarks
  readonly #calls: StoreCalls
  readonly #limiter: SessionLimiter
  readonly #options: GuardOptions
  readonly #seen = new SeenSessions()
  readonly #judge: SessionJudge
  /** Why the sessions that ended last are over, by raw id: a browser may ask several times. */
  readonly #reasons = new BoundedMap<string, SignedOutReason>(10_000)
  readonly #origins = new OriginSessions()

  constructor(calls: StoreCalls, limiter: SessionLimiter, options: GuardOptions) {
    this.#calls = calls
    this.#limiter = limiter
    this.#options = options
    this.marks = new SessionMarks(options.siteSecrets, limiter.storeId)
    this.#judge = new SessionJudge(this.marks, limiter, options.sessionUser)
    this.warnings = new UserWarnings(options.sessionUser, options.logger)
  }

  /** Reads a session, and asks the limiter about it in the same tick when its user is known. `read`: a call of its own. */
  async load(sessionId: string, read?: () => Promise<HostSessionData | undefined>): Promise<Inspected> {
    const known = this.#seen.get(sessionId)
    const early = known && this.#limiter.check(known.userId, known.token)
    early?.catch(() => {})
    const data = await (read ? read() : this.#calls.get(sessionId))
    if (data) return this.inspect(sessionId, data, early)
    this.#seen.delete(sessionId)
    const ended = this.#reasons.get(sessionId)
    return ended ? { ended } : {}
  }

  /** Judges a session that was read. One that is over is removed from the store. */
  async inspect(sessionId: string, data: HostSessionData, early?: Promise<SessionVerdict>): Promise<Inspected> {
    const judged = await this.#judge.judge(sessionId, data, early)
    if (!judged) return { data }
    const { userId, verdict } = judged
    const token = this.#tokenFor(sessionId)
    if (verdict.live) {
      this.#seen.note(sessionId, userId, token)
      return { data, session: { userId, token } }
    }
    this.#seen.delete(sessionId)
    if (verdict.reason === 'logout_all') await this.#limiter.invalidate(userId, sessionId)
    else await this.#calls.destroy(sessionId)
    this.#reasons.set(sessionId, verdict.reason)
    return { ended: verdict.reason }
  }

  /**
   * Writes a session, unless it has been ended meanwhile.
   *
   * @param request Whose session it is. express-session keeps it in the session.
   */
  async save(
    sessionId: string,
    data: HostSessionData,
    request = data.req as GuardedRequest | undefined,
  ): Promise<void> {
    await this.#judge.prepare(data, this.#tokenFor(sessionId))
    const login = this.logins.of(request)
    if (login && login.sessionId !== sessionId) return this.#saveLoggingIn(sessionId, data, login.userId)
    const marker = this.markerOf(sessionId, data)
    if (marker) return this.#saveRegistered(sessionId, data, marker)
    if (login) return this.#calls.set(sessionId, data)
    const holder = this.#holderOf(sessionId, request)
    if (holder) return this.#saveEmptied(sessionId, data, request, holder)
    return this.#saveUnregistered(sessionId, data, request)
  }

  /**
   * A login that is cut off before its answer must not leave what passes for a session from before sessmgr. The session
   * itself is marked when it is registered: then it differs from what was written, and is written for its full time.
   */
  #saveLoggingIn(sessionId: string, data: HostSessionData, userId: UserId): Promise<void> {
    const marker = this.marks.seal(userId, tokenOf(sessionId))
    return whileMarked(data, marker, () => this.#calls.set(sessionId, data))
  }

  async #saveRegistered(sessionId: string, data: HostSessionData, { userId, token }: LoginSession): Promise<void> {
    if (!(await this.#isLive({ userId, token }))) return
    await this.#calls.set(sessionId, data)
    const stillThere = await this.#limiter.touch(userId, token, sessionTtl(data))
    this.#seen.noteTouch(sessionId, data)
    // It may have been ended while it was being written.
    if (!stillThere && !(await this.marks.hasChanged())) await this.#calls.destroy(sessionId)
  }

  /** The application has emptied a session, marker and all; under its id it is registered all the same. */
  async #saveEmptied(
    sessionId: string,
    data: HostSessionData,
    request: GuardedRequest | undefined,
    holder: LoginSession,
  ): Promise<void> {
    const stored = await this.#calls.get(sessionId)
    // It has been ended meanwhile, and must not come back.
    if (!stored) return
    const { sessionUser } = this.#options
    if (String(sessionUser(stored)) === String(sessionUser(data))) {
      this.mark(sessionId, data, holder)
      return this.#saveRegistered(sessionId, data, holder)
    }
    // Its user was taken out, or exchanged: nobody must go on as the one who logged in.
    await this.#giveUp(sessionId, holder.userId, request)
    await this.#saveUnregistered(sessionId, data, request)
  }

  async #saveUnregistered(sessionId: string, data: HostSessionData, request?: GuardedRequest): Promise<void> {
    const userId = this.#options.sessionUser(data)
    const named =
      userId !== undefined && (request ? this.#origins.of(request, userId) : this.marks.copiedFrom(data, userId))
    const own = (await named) || undefined
    const origin = own ?? (await this.#origins.of(request))
    // A request whose session was ended must not carry its user over into a new one, be it where nobody can see it.
    const mayCarryOver = origin && (userId !== undefined || !origin.isReadable)
    if (mayCarryOver && !(await this.#isLive(origin))) return this.#calls.destroy(sessionId)
    if (userId === undefined) {
      if (!this.#seen.hasSeen) this.warnings.noteNobody(data, request)
      return this.#calls.set(sessionId, data)
    }
    this.warnings.noteLoginPast(request)
    await this.#admitPastTheHook(sessionId, userId, data, own?.token).catch((error) => {
      // It was ended in this very moment; what was written has been taken back.
      if (error.code !== 'session_ended') throw error
    })
  }

  /** Somebody is signed in without a login that came by here: on a route above sessmgr, or by a change of session ids. */
  async #admitPastTheHook(
    sessionId: string,
    userId: UserId,
    data: HostSessionData,
    continues: Token | undefined,
  ): Promise<void> {
    const attempt = { userId, continues, ip: null, userAgent: null }
    const admission = await this.#limiter.admit(attempt, async () => {
      this.mark(sessionId, data, { userId, token: tokenOf(sessionId) })
      await this.#calls.set(sessionId, data)
      return { sessionId, ttlMs: sessionTtl(data), revert: () => this.#calls.destroy(sessionId) }
    })
    if (!admission.admitted) throw new SessmgrError('login_limit_reached', admission.message)
  }

  async #isLive({ userId, token }: LoginSession): Promise<boolean> {
    return (await this.#limiter.check(userId, token)).live
  }

  /** Tells whether noting the use of a session again can wait, for the registry and for the store. */
  canWait(sessionId: string, data: HostSessionData): boolean {
    // Without an expiry in the cookie the store alone knows how long a session lasts, and has to hear of every use.
    return Boolean(expiryOf(data)) && this.#seen.wasJustTouched(sessionId, data, this.#options.touchEveryMs)
  }

  /** Notes that a session was used. Logs a failure: the request has its answer, which an error would only break off. */
  async touch(sessionId: string, data: HostSessionData): Promise<void> {
    try {
      await this.#touchEverywhere(sessionId, data)
    } catch (error) {
      const message = 'That a session is in use could not be noted; it may expire too early.'
      this.#options.logger.warn(message, { token: this.#tokenFor(sessionId), error: errorText(error, sessionId) })
    }
  }

  async #touchEverywhere(sessionId: string, data: HostSessionData): Promise<void> {
    const marker = this.markerOf(sessionId, data)
    if (!marker || this.#seen.wasJustTouched(sessionId, data, this.#options.touchEveryMs))
      return this.#calls.touch(sessionId, data)
    this.#seen.noteTouch(sessionId, data)
    const { userId, token } = marker
    const registered = this.#limiter.touch(userId, token, sessionTtl(data))
    await Promise.all([registered, this.#calls.touch(sessionId, data)])
    if ((await registered) || (await this.marks.hasChanged())) return
    // Its record has expired before it, or it has just been ended: it counts no longer, so it must not go on.
    this.#seen.delete(sessionId)
    await this.#calls.destroy(sessionId)
  }

  /** Destroys a session and frees its slot. `request`: the one that gives it up, where that is known. */
  async destroy(sessionId: string, request?: object): Promise<void> {
    const wasLive = this.#free(sessionId)
    this.#origins.giveUp(request, this.#tokenFor(sessionId), wasLive)
    await wasLive
    await this.#calls.destroy(sessionId)
  }

  /** Frees the slot of a session, if it has one. Resolves true when it was live until then. */
  async #free(sessionId: string): Promise<boolean> {
    const userId = this.#seen.get(sessionId)?.userId ?? (await this.#registeredUserInStore(sessionId))
    return userId !== undefined && this.#release(sessionId, userId)
  }

  async #registeredUserInStore(sessionId: string): Promise<UserId | undefined> {
    const data = await this.#calls.get(sessionId)
    if (!data) return undefined
    await this.#judge.prepare(data, this.#tokenFor(sessionId))
    return this.markerOf(sessionId, data)?.userId
  }

  #release(sessionId: string, userId: UserId): Promise<boolean> {
    const token = this.#tokenFor(sessionId)
    this.#seen.delete(sessionId)
    return this.#limiter.release(userId, token)
  }

  /** Ends the registration of a session that a request leaves for good. */
  async #giveUp(sessionId: string, userId: UserId, request: object | undefined): Promise<void> {
    const wasLive = this.#release(sessionId, userId)
    this.#origins.giveUp(request, this.#tokenFor(sessionId), wasLive)
    await wasLive
  }

  /** Ends the session that a visitor, perhaps signed in as `holder`, has left by logging in. Logs a failure. */
  async leave(sessionId: string, holder: UserId | undefined, request: object): Promise<void> {
    try {
      if (holder !== undefined) await this.#giveUp(sessionId, holder, request)
      await this.#calls.destroy(sessionId)
    } catch (error) {
      const message = 'The session that somebody left by logging in could not be ended; it expires by itself.'
      this.#options.logger.warn(message, { token: tokenOf(sessionId), error: errorText(error, sessionId) })
    }
  }

  /** Notes that a request was loaded with a login session, or has got one by a login. */
  noteOrigin(request: object, data: HostSessionData, { userId, token }: LoginSession): void {
    this.#origins.note(request, { userId, token, isReadable: this.#options.sessionUser(data) !== undefined })
  }

  /** Tells whether the session on which a request goes is over; false once it has given up a live one. */
  async hasEnded(request: object): Promise<boolean> {
    const origin = await this.#origins.of(request)
    return origin !== undefined && !(await this.#isLive(origin))
  }

  /** Finds the session that must be live for a request to log this user in: its own, as long as it has one of his. */
  async continuedBy(request: object, userId: UserId): Promise<Token | undefined> {
    return (await this.#origins.of(request, userId))?.token
  }

  /** Notes that a session now belongs to a user. */
  mark(sessionId: string, data: HostSessionData, { userId, token }: LoginSession): void {
    this.#seen.note(sessionId, userId, token)
    this.marks.write(data, userId, token)
  }

  /** Reads the marker of a session that was registered in this store. */
  markerOf(sessionId: string, data: HostSessionData): SessionMarker | undefined {
    return this.marks.read(data, this.#tokenFor(sessionId))
  }

  /** Tells whose a session is by its id alone, as far as this request or this process has seen it. */
  #holderOf(sessionId: string, request: GuardedRequest | undefined): LoginSession | undefined {
    const { session } = request?.sessmgr ?? {}
    return session?.token === this.#tokenFor(sessionId) ? session : this.#seen.get(sessionId)
  }

  #tokenFor(sessionId: string): string {
    return this.#seen.get(sessionId)?.token ?? tokenOf(sessionId)
  }
}
