import { SessmgrError } from '../ground/errors.ts'
import type { UserId } from '../ground/user-id.ts'
import { type Login, type Token, tokenOf, UNPROVED } from '../sessions/session-record.ts'
import type { HostSessionData } from './host-types.ts'
import type { LoginUnderWay, Visit } from './request/visit.ts'
import type { GuardContext } from './sessions/guard-context.ts'
import { type LoginSession, loginOf } from './sessions/known-sessions.ts'
import { copiedPair, PAIR_KEY, pairOf } from './sessions/pair.ts'
import { cookieTtl, hasInvalidExpiry, isSameLife, lifeOf } from './sessions/session-lives.ts'
import { refuseTooEarly, warnOfKeptId, warnOfLoginPast, warnOfNoLogin, warnOfProxy } from './warnings.ts'

const SEEN_TOO_LATE =
  'A login was refused instead of letting the user choose, because sessmgr saw it only when the session was saved. ' +
  'Log users in with Passport or limiter.login(request, user), on routes after sessmgr.'

/** The write of one session. */
class Write {
  readonly sessionId: string
  readonly token: Token
  readonly data: HostSessionData
  /** The request that writes the session, if known. */
  readonly visit: Visit | undefined

  constructor(sessionId: string, token: Token, data: HostSessionData, visit: Visit | undefined) {
    this.sessionId = sessionId
    this.token = token
    this.data = data
    this.visit = visit
  }
}

/**
 * Writes a session, unless it has ended in the meantime. `visit` is the request that writes it, if known. The first
 * matching row applies:
 *
 * | the session                                         | what happens                                         |
 * | --------------------------------------------------- | ---------------------------------------------------- |
 * | was created by a login in progress                  | `saveLoggingIn`: written with a pair                 |
 * | has a pair, but has expired                         | `endSession`: destroyed, and its slot is freed       |
 * | has a pair, and is as its login stored it           | nothing                                              |
 * | has a pair, but no longer its user                  | `saveEmptied`: kept, or its slot is freed            |
 * | has a pair                                          | `saveRegistered`: written if it is live              |
 * | is the visitor's, while a login is in progress      | written unchanged: the login may register it next   |
 * | has no pair, but the id of a known login session    | `saveEmptied`: paired again, or its slot is freed    |
 * | is unknown                                          | `saveUnregistered`: a visitor's, or an unseen login  |
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
  const pair = pairOf(data, token)
  // Some stores would keep a session whose lifetime the application has set to zero or less.
  if (pair && guard.lives.isOver(data)) return endSession(guard, write, pair)
  if (pair && written?.holds(sessionId, data)) return
  if (pair && hasLostUser(guard, write, pair)) return saveEmptied(guard, write, pair)
  if (pair) return saveRegistered(guard, write, pair, written !== undefined)
  if (login) return guard.calls.set(sessionId, data, visit)
  const holder = holderOf(guard, write)
  return holder ? saveEmptied(guard, write, holder) : saveUnregistered(guard, write)
}

/**
 * Writes a copy of the session with a pair. Without a pair, a session left by an interrupted login would seem to be from
 * before sessmgr. The session itself is paired only when it is registered.
 */
async function saveLoggingIn(
  guard: GuardContext,
  { sessionId, data, token }: Write,
  visit: Visit,
  { userId }: LoginUnderWay,
): Promise<void> {
  const paired = { ...data, [PAIR_KEY]: guard.newPair({ userId, token }) }
  await guard.calls.set(sessionId, paired, visit)
  visit.writtenLogin = new WrittenLogin(sessionId, paired)
}

async function saveRegistered(guard: GuardContext, write: Write, login: LoginSession, isFirst = false): Promise<void> {
  if (!(await guard.isLive(login))) return
  await guard.calls.set(write.sessionId, write.data, write.visit)
  await recordUse(guard, write, login, isFirst)
}

/** Ends a session and removes it from its store. */
async function endSession(guard: GuardContext, { sessionId, visit }: Write, { userId }: LoginSession): Promise<void> {
  await giveUp(guard, sessionId, userId, visit)
  await guard.calls.destroy(sessionId, visit)
}

/**
 * Frees the slot of a session that a request gives up, and records in `visit` whether the session was still live.
 */
export async function giveUp(
  guard: GuardContext,
  sessionId: string,
  userId: UserId,
  visit: Visit | undefined,
): Promise<void> {
  const token = guard.tokenFor(sessionId)
  const ends = guard.giveUp(sessionId, userId)
  visit?.giveUp(token, ends)
  await ends
}

/**
 * Checks whether the session that a request depends on has ended. Resolves to false if the request gave it up while it
 * was live.
 */
export async function hasEnded(guard: GuardContext, visit: Visit): Promise<boolean> {
  const origin = await visit.dependsOn()
  return origin !== undefined && !(await guard.isLive(origin))
}

/**
 * Records the use of a stored session in the registry.
 *
 * @param isFirst Whether this is the first time since the login.
 */
async function recordUse(guard: GuardContext, write: Write, login: LoginSession, isFirst: boolean): Promise<void> {
  const { sessionId, data, visit } = write
  const { userId, token } = login
  if (isFirst && hasInvalidExpiry(data)) return
  const interval = guard.lives.touchInterval(data, guard.options.touchEveryMs)
  const freshMs = isFirst || guard.seen.hasOtherLife(sessionId, data) ? 0 : interval / 2
  // A login has exactly the lifetime that the application has given it.
  const spareMs = isFirst ? 0 : guard.lives.spareMs(interval)
  const stillThere = await guard.limiter.touch(userId, token, guard.lives.ttlOf(data) + spareMs, freshMs)
  if (isFirst) guard.noteRegistered(sessionId, data)
  else guard.seen.noteTouch(sessionId, data, interval)
  guard.seen.noteStored(sessionId, 0)
  // The session may have ended while it was being written.
  const pair = pairOf(data, token)
  if (!stillThere && pair && (await guard.isCurrent(pair))) await guard.calls.destroy(sessionId, visit)
}

/** Checks whether a session no longer names the user that its pair names, because the application has removed it. */
function hasLostUser(guard: GuardContext, { data, token, visit }: Write, { userId }: LoginSession): boolean {
  if (!visit?.wasReadable(token)) return false
  return String(guard.options.sessionUser(data)) !== String(userId)
}

/** Saves a session that the application has emptied, perhaps even of its pair, while its id is still registered. */
async function saveEmptied(guard: GuardContext, write: Write, holder: LoginSession): Promise<void> {
  const { sessionId, data, visit } = write
  const stored = await guard.calls.get(sessionId, visit)
  // The session has ended in the meantime, and must not come back.
  if (!stored) return
  const { sessionUser } = guard.options
  if (String(sessionUser(stored)) === String(sessionUser(data))) {
    if (!pairOf(data, write.token)) guard.pair(sessionId, data, holder)
    return saveRegistered(guard, write, holder)
  }
  // The application has removed or replaced the user, so the session must not stay registered for that user.
  delete data[PAIR_KEY]
  if (sessionUser(data) === undefined) {
    await giveUp(guard, sessionId, holder.userId, visit)
    return saveUnregistered(guard, write)
  }
  // The login of the other user is decided first: if it is refused, nothing has changed.
  await saveUnregistered(guard, write)
  const ends = guard.limiter.giveUp(holder.userId, write.token)
  visit?.giveUp(write.token, ends, holder.userId)
  await ends
}

async function saveUnregistered(guard: GuardContext, write: Write): Promise<void> {
  const { sessionId, data, visit } = write
  const { logger, sessionUser } = guard.options
  const userId = sessionUser(data)
  const own = userId === undefined ? undefined : await originOf(guard, write, userId)
  const origin = own ? undefined : await visit?.dependsOn()
  const depended = own ?? origin
  // The user of an ended session must not be carried over into a new one, even if `sessionUser` cannot read the user.
  const mayCarryOver = userId !== undefined || origin?.isReadable === false
  if (depended && mayCarryOver && !(await guard.isLive(depended))) return guard.calls.destroy(sessionId, visit)
  if (userId === undefined) {
    if (!guard.seen.hasSeen) warnOfNoLogin(logger, guard.unnamed, sessionId, data, visit)
    return guard.calls.set(sessionId, data, visit)
  }
  if (guard.destroyed.get(sessionId)) return guard.calls.destroy(sessionId, visit)
  if (visit?.isTooEarly) refuseTooEarly(visit)
  if (!guard.isNamed) warnOfLoginPast(logger, visit)
  if (visit) warnOfProxy(logger, visit)
  warnOfKeptId(logger, sessionId, visit)
  await admitPastTheHook(guard, write, userId, own?.token)
}

/**
 * Returns the user's session that a session continues: that of the request, or the one that it was copied from. Resolves
 * to undefined if the copied one is of another registry, which cannot tell whether it has ended.
 */
async function originOf(guard: GuardContext, { data, visit }: Write, userId: UserId): Promise<Login | undefined> {
  if (visit) return visit.dependsOn(userId)
  const copied = copiedPair(data, userId)
  return copied && (await guard.isCurrent(copied)) ? copied : undefined
}

/** Returns the address and user agent of a login's client. */
export function clientOfVisit({ ip, raw }: Visit) {
  return { ip: ip ?? raw.socket?.remoteAddress, userAgent: raw.headers['user-agent'] }
}

/**
 * Registers a login that the guard notices only when its session is saved. This can be the application's own login, one
 * on a route before sessmgr, or a change of the session id.
 */
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
    isUntold: true,
    requestOf: () => visit?.own,
    since: await visit?.givenUp(userId),
    replaces: sessionId,
    cannotAsk: SEEN_TOO_LATE,
  }
  await guard.ready()
  const admission = await guard.limiter.admit(attempt, async () => {
    const before = visit?.hasSent(sessionId) ? await guard.calls.get(sessionId, visit) : undefined
    const own = visit?.sessmgr?.session
    const actor = String(own?.userId) === String(userId) ? own?.actor : undefined
    guard.pair(sessionId, data, { userId, token: tokenOf(sessionId), ...(actor !== undefined && { actor }) })
    await guard.calls.set(sessionId, data, visit)
    const revert = async () => {
      delete data[PAIR_KEY]
      guard.seen.delete(sessionId)
      await (before ? guard.calls.set(sessionId, before, visit) : guard.calls.destroy(sessionId, visit))
    }
    return { sessionId, ttlMs: guard.lives.ttlOf(data), takenUp: false, provedAt: UNPROVED, revert }
  })
  if (visit && !admission.admitted) visit.refusedId = sessionId
  if (!admission.admitted) throw new SessmgrError('login_limit_reached', admission.message)
  if (!visit) return
  const login = loginOf(admission.session)
  visit.sessmgr = { session: login }
  visit.admitted = admission.session
  visit.noteOrigin(userId, login.token, true)
  guard.noteRegistered(sessionId, data)
  visit.writtenLogin = new WrittenLogin(sessionId, data)
}

/** Returns the login session with this id, if this request or this process has seen it. */
function holderOf(guard: GuardContext, { sessionId, token, visit }: Write): LoginSession | undefined {
  const session = visit?.sessmgr?.session
  return session?.token === token ? session : guard.seen.get(sessionId)
}

/** How far the response to a login may move the session's expiry before the session is written again. */
const SLACK_MS = 1000

/** The session data that a login has written. A response that changes nothing does not have to write it again. */
class WrittenLogin {
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
    return isSame && isNear(cookieTtl(data), this.#ttlMs) && isSameLife(lifeOf(data), this.#lifeMs)
  }
}

/** Checks whether two times are almost the same, or both missing. */
function isNear(one: number | undefined, other: number | undefined): boolean {
  return one === other || Math.abs((one ?? Number.NaN) - (other ?? Number.NaN)) < SLACK_MS
}

/** Returns the data as a string, without the expiry, which changes with each use. */
function contentOf(data: HostSessionData): string {
  const { cookie, _expire, _maxAge, ...rest } = data
  const { expires, _expires, originalMaxAge, ...attributes } = cookie ?? {}
  return JSON.stringify([rest, attributes])
}
