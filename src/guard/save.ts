import { SessmgrError } from '../ground/errors.ts'
import type { UserId } from '../ground/user-id.ts'
import { type Token, tokenOf } from '../sessions/session-record.ts'
import type { GuardContext, LoginSession } from './guard-context.ts'
import type { HostSessionData } from './host-types.ts'
import { dropHidden, HIDDEN_MARKER, type Hiding, hiddenIn, MARKER_KEY, putMarker } from './marks.ts'
import type { LoginUnderWay, Visit } from './request/visit.ts'
import { cookieTtl, hasInvalidExpiry, lifeOf } from './session-lives.ts'
import { refuseTooEarly } from './warnings.ts'

/**
 * Lifetime of a new session until the response to its login saves it. An interrupted login must not occupy a slot for
 * days.
 */
export const UNCONFIRMED_MS = 120_000

const SEEN_TOO_LATE =
  'A login was refused instead of letting the user choose, because sessmgr saw it only when the session was saved. Mode ' +
  'ask needs logins by Passport or limiter.login(request, user), on routes after sessmgr.'

/** One session being written. */
class Write {
  readonly sessionId: string
  readonly token: Token
  readonly data: HostSessionData
  /** The request of the session, if known. */
  readonly visit: Visit | undefined
  /** Whether the browser hung up before the write. express-session sends the head of the response during the write. */
  readonly isCutOff: boolean

  constructor(sessionId: string, token: Token, data: HostSessionData, visit: Visit | undefined) {
    this.sessionId = sessionId
    this.token = token
    this.data = data
    this.visit = visit
    this.isCutOff = visit?.isCutOff === true
  }
}

/**
 * Writes a session, unless it has ended in the meantime. `visit` is the request of the session, if known. The first
 * matching row applies:
 *
 * | the session                                         | what happens                                         |
 * | --------------------------------------------------- | ---------------------------------------------------- |
 * | created by a login in progress                      | `saveLoggingIn`: written with a marker               |
 * | has a valid marker, but its lifetime is over        | `endSession`: destroyed, and its slot is freed       |
 * | has a valid marker, and is stored since its login   | `confirm`: its life and use are recorded             |
 * | has a valid marker, hidden, but lost its user       | `saveEmptied`: kept, or its slot is freed            |
 * | has a valid marker                                  | `saveRegistered`: written while it is live           |
 * | the visitor's session of a login                    | written unchanged: the login registers it next       |
 * | only known by its id                                | `saveEmptied`: marked again, or its slot is freed    |
 * | unknown                                             | `saveUnregistered`: a visitor's, or an unseen login  |
 */
export async function saveSession(
  guard: GuardContext,
  sessionId: string,
  data: HostSessionData,
  visit?: Visit,
): Promise<void> {
  const token = guard.tokenFor(sessionId)
  const write = new Write(sessionId, token, data, visit)
  if (visit?.begunId === sessionId) visit.begunId = undefined
  const login = visit?.login
  if (login && login.sessionId !== sessionId) return saveLoggingIn(guard, write, visit, login)
  const written = visit?.writtenLogin
  if (visit) visit.writtenLogin = undefined
  await guard.prepare(data, token)
  const marker = guard.marks.read(data, token)
  // Some stores would keep a session to which the application has given a lifetime of zero or less.
  if (marker && guard.lives.isOver(data)) return endSession(guard, write, marker)
  if (marker && written?.holds(sessionId, data)) return confirm(guard, write, marker, true, written.isAtOnce)
  if (marker && hasLostUser(guard, write, marker)) return saveEmptied(guard, write, marker)
  if (marker) return saveRegistered(guard, write, marker, written !== undefined)
  if (login) return guard.calls.set(sessionId, data, visit)
  const holder = holderOf(guard, write)
  return holder ? saveEmptied(guard, write, holder) : saveUnregistered(guard, write)
}

/**
 * Writes a copy with a marker, because an interrupted login must not leave a session that seems to be from before
 * sessmgr. The session itself is marked when it is registered. Because it then differs from what was written, the
 * framework writes it again with the response, which confirms the login.
 */
async function saveLoggingIn(
  guard: GuardContext,
  { sessionId, data, token }: Write,
  visit: Visit,
  { userId, at }: LoginUnderWay,
): Promise<void> {
  await guard.marks.ready()
  const marker = guard.marks.seal(userId, token, at)
  const marked = { ...data }
  if (marker) putMarker(marked, marker)
  await guard.calls.set(sessionId, marked, visit)
  visit.writtenLogin = new WrittenLogin(sessionId, marked)
}

async function saveRegistered(guard: GuardContext, write: Write, login: LoginSession, isFirst = false): Promise<void> {
  if (!(await guard.isLive(login))) return
  await guard.calls.set(write.sessionId, write.data, write.visit)
  await confirm(guard, write, login, isFirst)
}

/** Ends a session and removes it from its store. */
async function endSession(guard: GuardContext, { sessionId, visit }: Write, { userId }: LoginSession): Promise<void> {
  await giveUp(guard, sessionId, userId, visit)
  await guard.calls.destroy(sessionId, visit)
}

/** Ends the registration of a session that a request has left. */
export async function giveUp(
  guard: GuardContext,
  sessionId: string,
  userId: UserId,
  visit: Visit | undefined,
): Promise<void> {
  const token = guard.tokenFor(sessionId)
  const wasLive = guard.release(sessionId, userId)
  visit?.giveUp(token, wasLive)
  await wasLive
}

/** Checks whether the session that a request depends on is over, unless the request gave it up while live. */
export async function hasEnded(guard: GuardContext, visit: Visit): Promise<boolean> {
  const origin = await visit.dependsOn()
  return origin !== undefined && !(await guard.isLive(origin))
}

/**
 * Sets the full lifetime of a stored session in the registry.
 *
 * @param isFirst Whether this is the first time since the login.
 * @param isAtOnce Whether the registry has just decided on the login by itself. If so, the response does not wait:
 * after a failure, the next use of the session does the same.
 */
async function confirm(
  guard: GuardContext,
  write: Write,
  login: LoginSession,
  isFirst: boolean,
  isAtOnce = false,
): Promise<void> {
  const { sessionId, data, visit } = write
  const { userId, token } = login
  // No browser has the cookie of this login.
  if (isFirst && write.isCutOff) return endSession(guard, write, login)
  if (isFirst && guard.options.hasOwnReader) guard.warnings.compareSaved(userId, guard.options.sessionUser(data))
  if (isFirst && hasInvalidExpiry(data)) return
  const interval = guard.lives.touchInterval(data, guard.options.touchEveryMs)
  const freshMs = isFirst || guard.seen.hasOtherLife(sessionId, data) ? 0 : interval / 2
  const record = async () => {
    const stillThere = await guard.limiter.touch(userId, token, guard.lives.ttlOf(data), freshMs)
    guard.seen.noteTouch(sessionId, data, interval)
    // The session may have ended while it was being written.
    if (!stillThere && !(await guard.marks.hasChanged())) await guard.calls.destroy(sessionId, visit)
  }
  if (isAtOnce) void record().catch(() => {})
  else await record()
}

/**
 * Checks whether a session that named its user no longer does. An application that empties a session removes only what
 * it sees, so not a hidden marker.
 */
function hasLostUser(guard: GuardContext, { data, token, visit }: Write, { userId }: LoginSession): boolean {
  if (hiddenIn(data) === undefined || !visit?.wasReadable(token)) return false
  return String(guard.options.sessionUser(data)) !== String(userId)
}

/**
 * Handles a session that the application has emptied, perhaps with its marker. Its id is still registered.
 */
async function saveEmptied(guard: GuardContext, write: Write, holder: LoginSession): Promise<void> {
  const { sessionId, data, visit } = write
  const stored = await guard.calls.get(sessionId, visit)
  // The session has ended in the meantime, and must not come back.
  if (!stored) return
  const { sessionUser } = guard.options
  if (String(sessionUser(stored)) === String(sessionUser(data))) {
    if (!guard.markerOf(sessionId, data)) guard.mark(sessionId, data, holder, undefined, true)
    return saveRegistered(guard, write, holder)
  }
  // The application has removed or replaced the user, so the session must not stay registered for that user.
  dropHidden(data)
  await giveUp(guard, sessionId, holder.userId, visit)
  await saveUnregistered(guard, write)
}

async function saveUnregistered(guard: GuardContext, write: Write): Promise<void> {
  const { sessionId, data, visit } = write
  const { marks, warnings } = guard
  const userId = guard.options.sessionUser(data)
  const named = userId !== undefined && (visit ? visit.dependsOn(userId) : marks.copiedFrom(data, userId))
  const own = (await named) || undefined
  const origin = own ? undefined : await visit?.dependsOn()
  const depended = own ?? origin
  // The user of an ended session must not be carried over into a new one, even if `sessionUser` cannot read the user.
  const mayCarryOver = userId !== undefined || origin?.isReadable === false
  if (depended && mayCarryOver && !(await guard.isLive(depended))) return guard.calls.destroy(sessionId, visit)
  if (userId === undefined) {
    if (!guard.seen.hasSeen) warnings.noteNobody(data, visit)
    return guard.calls.set(sessionId, data, visit)
  }
  if (guard.destroyed.get(sessionId)) return guard.calls.destroy(sessionId, visit)
  if (visit?.isTooEarly) refuseTooEarly(visit)
  warnings.noteLoginPast(visit)
  if (visit) warnings.noteProxy(visit)
  warnings.noteKeptId(sessionId, visit)
  await admitPastTheHook(guard, write, userId, own?.token).catch((error) => {
    // The session ended at this very moment, and the write was undone.
    if (error.code !== 'session_ended') throw error
  })
}

/** Returns the client of a login. */
export function clientOfVisit({ ip, raw }: Visit) {
  return { ip: ip ?? raw.socket?.remoteAddress, userAgent: raw.headers['user-agent'] }
}

/** Registers a login that the guard has not seen: on a route before sessmgr, or by a change of session ids. */
async function admitPastTheHook(
  guard: GuardContext,
  write: Write,
  userId: UserId,
  continues: Token | undefined,
): Promise<void> {
  const { sessionId, data, visit } = write
  // The session replaces itself, so that two concurrent writes of one session count as one login.
  const attempt = {
    userId,
    ...(visit && clientOfVisit(visit)),
    continues,
    replaces: sessionId,
    cannotAsk: SEEN_TOO_LATE,
  }
  const admission = await guard.limiter.admit(attempt, async () => {
    // Hidden, because this write stores it: the framework needs no reason to write the session again.
    guard.mark(sessionId, data, { userId, token: tokenOf(sessionId) }, undefined, true)
    await guard.calls.set(sessionId, data, visit)
    const lifeMs = guard.lives.ttlOf(data)
    const ttlMs = write.isCutOff ? Math.min(lifeMs, UNCONFIRMED_MS) : lifeMs
    return { sessionId, ttlMs, revert: () => guard.calls.destroy(sessionId, visit) }
  })
  if (!admission.admitted) throw new SessmgrError('login_limit_reached', admission.message)
  const leftId = visit?.leftId ?? sessionId
  if (leftId !== sessionId) guard.left.note(leftId)
}

/** Returns the user of a session by its id, if this request or this process has seen it. */
function holderOf(guard: GuardContext, { sessionId, token, visit }: Write): LoginSession | undefined {
  const session = visit?.sessmgr?.session
  return session?.token === token ? session : guard.seen.get(sessionId)
}

/** How much the response to a login may change the expiry of its session. */
const SLACK_MS = 1000

/** express-session shortens a lifetime by the time between two looks at the clock. */
const TICKS_MS = 10

/** The session data that a login has written. A response that changes nothing does not have to write it again. */
class WrittenLogin {
  /** Whether the registry has decided on the login by itself. */
  isAtOnce = false
  readonly #sessionId: string
  readonly #content: string
  readonly #ttlMs: number | undefined
  readonly #lifeMs: number | undefined

  constructor(sessionId: string, data: HostSessionData) {
    this.#sessionId = sessionId
    this.#content = contentOf(data)
    this.#ttlMs = cookieTtl(data)
    this.#lifeMs = lifeOf(data)
  }

  /** Checks whether the store already has the current data of a session. */
  holds(sessionId: string, data: HostSessionData): boolean {
    const isSame = sessionId === this.#sessionId && contentOf(data) === this.#content
    return isSame && isNear(cookieTtl(data), this.#ttlMs, SLACK_MS) && isNear(lifeOf(data), this.#lifeMs, TICKS_MS)
  }
}

/** Checks whether two times are almost the same, or both missing. */
function isNear(one: number | undefined, other: number | undefined, slack: number): boolean {
  return one === other || Math.abs((one ?? Number.NaN) - (other ?? Number.NaN)) < slack
}

/** Returns the data without its expiry, which changes with each use. */
function contentOf(data: HostSessionData): string {
  const { cookie, _expire, _maxAge, [MARKER_KEY]: shown, [HIDDEN_MARKER]: hidden, ...rest }: Hiding = data
  const { expires, _expires, originalMaxAge, ...attributes } = cookie ?? {}
  return JSON.stringify([rest, attributes, hidden ?? shown])
}
