import { SessmgrError } from '../ground/errors.ts'
import type { UserId } from '../ground/user-id.ts'
import { type Token, tokenOf } from '../sessions/session-record.ts'
import type { GuardContext, LoginSession } from './guard-context.ts'
import type { GuardedRequest, HostSessionData } from './host-types.ts'
import { dropHidden, hiddenIn, putMarker } from './marker-place.ts'
import { isCutOff, UNCONFIRMED_MS } from './request/cut-off.ts'
import { type LoginUnderWay, Standing } from './request/standing.ts'
import { refuseTooEarly } from './request/too-early.ts'
import { WrittenLogin } from './request/written-login.ts'
import { hasInvalidExpiry } from './session-ttl.ts'

const SEEN_TOO_LATE =
  'A login was refused instead of letting the user choose, because sessmgr saw it only when the session was saved. Mode ' +
  'ask needs logins by Passport or limiter.login(request, user), on routes after sessmgr.'

/** One session being written. */
class Write {
  readonly sessionId: string
  readonly token: Token
  readonly data: HostSessionData
  /** The request of the session, if known. */
  readonly request: GuardedRequest | undefined
  /** Whether the browser hung up before the write. express-session sends the head of the response during the write. */
  readonly isCutOff: boolean

  constructor(sessionId: string, token: Token, data: HostSessionData, request: GuardedRequest | undefined) {
    this.sessionId = sessionId
    this.token = token
    this.data = data
    this.request = request
    this.isCutOff = request !== undefined && isCutOff(request)
  }
}

/**
 * Writes a session, unless it has ended in the meantime. `request` is the request of the session, if known. The first
 * matching row applies:
 *
 * | the session                                         | what happens                                         |
 * | --------------------------------------------------- | ---------------------------------------------------- |
 * | created by a login in progress                      | `saveLoggingIn`: written with a marker               |
 * | has a valid marker, but its lifetime is over        | `endSession`: destroyed, and its slot is freed       |
 * | has a valid marker, and is stored since its login   | `confirm`: its use is recorded                       |
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
  request?: GuardedRequest,
): Promise<void> {
  const token = guard.tokenFor(sessionId)
  const write = new Write(sessionId, token, data, request)
  const standing = Standing.of(request)
  if (standing?.begunId === sessionId) standing.begunId = undefined
  const login = standing?.login
  if (login && login.sessionId !== sessionId) return saveLoggingIn(guard, write, standing, login)
  const written = standing?.takeWrittenLogin()
  await guard.prepare(data, token)
  const marker = guard.marks.read(data, token)
  // Some stores would keep a session to which the application has given a lifetime of zero or less.
  if (marker && guard.lives.isOver(data)) return endSession(guard, write, marker)
  if (marker && written?.holds(sessionId, data)) return confirm(guard, write, marker, true)
  if (marker && hasLostUser(guard, write, marker)) return saveEmptied(guard, write, marker)
  if (marker) return saveRegistered(guard, write, marker, written !== undefined)
  if (login) return guard.calls.set(sessionId, data, request)
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
  { sessionId, data, token, request }: Write,
  standing: Standing,
  { userId, at }: LoginUnderWay,
): Promise<void> {
  await guard.marks.ready()
  const marker = guard.marks.seal(userId, token, at)
  const marked = { ...data }
  if (marker) putMarker(marked, marker)
  await guard.calls.set(sessionId, marked, request)
  standing.writtenLogin = new WrittenLogin(sessionId, marked)
}

async function saveRegistered(guard: GuardContext, write: Write, login: LoginSession, isFirst = false): Promise<void> {
  if (!(await guard.isLive(login))) return
  await guard.calls.set(write.sessionId, write.data, write.request)
  await confirm(guard, write, login, isFirst)
}

/** Ends a session and removes it from its store. */
async function endSession(guard: GuardContext, { sessionId, request }: Write, { userId }: LoginSession): Promise<void> {
  await guard.giveUp(sessionId, userId, request)
  await guard.calls.destroy(sessionId, request)
}

/**
 * Sets the full lifetime of a stored session in the registry.
 *
 * @param isFirst Whether this is the first time since the login.
 */
async function confirm(guard: GuardContext, write: Write, login: LoginSession, isFirst: boolean): Promise<void> {
  const { sessionId, data, request } = write
  const { userId, token } = login
  // No browser has the cookie of this login.
  if (isFirst && write.isCutOff) return endSession(guard, write, login)
  if (isFirst && hasInvalidExpiry(data)) return
  const interval = guard.lives.touchInterval(data, guard.options.touchEveryMs)
  const freshMs = isFirst || guard.seen.hasOtherLife(sessionId, data) ? 0 : interval / 2
  const stillThere = await guard.limiter.touch(userId, token, guard.lives.ttlOf(data), freshMs)
  guard.seen.noteTouch(sessionId, data, interval)
  // The session may have ended while it was being written.
  if (!stillThere && !(await guard.marks.hasChanged())) await guard.calls.destroy(sessionId, request)
}

/**
 * Checks whether a session that named its user no longer does. An application that empties a session removes all that it
 * sees, which is not a hidden marker.
 */
function hasLostUser(guard: GuardContext, { data, token, request }: Write, { userId }: LoginSession): boolean {
  if (hiddenIn(data) === undefined || !Standing.of(request)?.wasReadable(token)) return false
  return String(guard.options.sessionUser(data)) !== String(userId)
}

/**
 * Handles a session that the application has emptied, perhaps with its marker. Its id is still registered.
 */
async function saveEmptied(guard: GuardContext, write: Write, holder: LoginSession): Promise<void> {
  const { sessionId, data, request } = write
  const stored = await guard.calls.get(sessionId, request)
  // The session has ended in the meantime, and must not come back.
  if (!stored) return
  const { sessionUser } = guard.options
  if (String(sessionUser(stored)) === String(sessionUser(data))) {
    if (!guard.markerOf(sessionId, data)) guard.mark(sessionId, data, holder, undefined, true)
    return saveRegistered(guard, write, holder)
  }
  // The application has removed or replaced the user, so the session must not stay registered for that user.
  dropHidden(data)
  await guard.giveUp(sessionId, holder.userId, request)
  await saveUnregistered(guard, write)
}

async function saveUnregistered(guard: GuardContext, write: Write): Promise<void> {
  const { sessionId, data, request } = write
  const { marks, warnings } = guard
  const standing = Standing.of(request)
  const userId = guard.options.sessionUser(data)
  const named = userId !== undefined && (request ? standing?.dependsOn(userId) : marks.copiedFrom(data, userId))
  const own = (await named) || undefined
  const origin = own ?? (await standing?.dependsOn())
  // The user of an ended session must not be carried over into a new one, even if `sessionUser` cannot read the user.
  const mayCarryOver = origin && (userId !== undefined || !origin.isReadable)
  if (mayCarryOver && !(await guard.isLive(origin))) return guard.calls.destroy(sessionId, request)
  if (userId === undefined) {
    if (!guard.seen.hasSeen) warnings.noteNobody(data, request)
    return guard.calls.set(sessionId, data, request)
  }
  if (guard.destroyed.get(sessionId)) return guard.calls.destroy(sessionId, request)
  if (request) refuseTooEarly(request)
  warnings.noteLoginPast(request)
  warnings.noteKeptId(write.sessionId, request)
  await admitPastTheHook(guard, write, userId, own?.token).catch((error) => {
    // The session ended at this very moment, and the write was undone.
    if (error.code !== 'session_ended') throw error
  })
}

/** Registers a login that the guard has not seen: on a route before sessmgr, or by a change of session ids. */
async function admitPastTheHook(
  guard: GuardContext,
  write: Write,
  userId: UserId,
  continues: Token | undefined,
): Promise<void> {
  const { sessionId, data, request } = write
  // The session replaces itself, so that two concurrent writes of one session count as one login.
  const attempt = { userId, continues, replaces: sessionId, cannotAsk: SEEN_TOO_LATE }
  const admission = await guard.limiter.admit(attempt, async () => {
    // Hidden, because this write stores it: the framework needs no reason to write the session again.
    guard.mark(sessionId, data, { userId, token: tokenOf(sessionId) }, undefined, true)
    await guard.calls.set(sessionId, data, request)
    const lifeMs = guard.lives.ttlOf(data)
    const ttlMs = write.isCutOff ? Math.min(lifeMs, UNCONFIRMED_MS) : lifeMs
    return { sessionId, ttlMs, revert: () => guard.calls.destroy(sessionId, request) }
  })
  if (!admission.admitted) throw new SessmgrError('login_limit_reached', admission.message)
  const { leftId = sessionId } = Standing.of(request) ?? {}
  if (leftId !== sessionId) guard.left.note(leftId)
}

/** Returns the user of a session by its id, if this request or this process has seen it. */
function holderOf(guard: GuardContext, { sessionId, token, request }: Write): LoginSession | undefined {
  const { session } = request?.sessmgr ?? {}
  return session?.token === token ? session : guard.seen.get(sessionId)
}
