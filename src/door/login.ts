import { createKeyedQueue } from '../ground/deadline.ts'
import { SessmgrError } from '../ground/errors.ts'
import type { UserId } from '../ground/user-id.ts'
import type { Admission } from '../limiter/admit-login.ts'
import type { SessionChoice } from '../limiter/decision/evaluate-login.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { ReaderTexts } from '../texts/texts-for.ts'
import type { HostResponse, HostSessionData } from './host-types.ts'
import { NOTICE_COOKIE } from './notice/notice.ts'
import type { DeviceCookies } from './request/device-cookies.ts'
import { cookiesOf, type HostLogin, type LimitLogin, type Visit } from './request/visit.ts'
import { clientOfVisit } from './save.ts'
import type { SessionGuard } from './session-guard.ts'
import { loginOf } from './sessions/known-sessions.ts'
import { PAIR_KEY } from './sessions/pair.ts'
import { refuseTooEarly, warnOfKeptId, warnOfLateLogin, warnOfOtherUser, warnOfProxy } from './warnings.ts'

/**
 * How long a login may delay the next login of the same request. Without this limit, a login started inside another
 * would wait forever.
 */
const HOLD_MS = 250

/** How long a session whose lifetime is over when it logs in keeps its slot, if its response does not decide. */
const OVER_MS = 120_000

interface LoginParts {
  readonly limiter: SessionLimiter
  readonly userIdOf: (user: unknown) => UserId
  /** Returns the guard of a request's session. */
  readonly guardOf: (visit: Visit) => SessionGuard
  /** Returns the texts for the user of a request. */
  readonly textsOf: (visit: Visit) => ReaderTexts
  /** Loads the code that recognizes browsers. Undefined without the `device` option. */
  readonly devices?: (() => Promise<DeviceCookies>) | undefined
  /**
   * Returns the page where users choose which sessions to end, or undefined if none is mounted.
   */
  readonly asker?: (() => Asker | undefined) | undefined
}

/** The page where users choose which sessions to end, as a login uses it. */
export interface Asker {
  readonly ask: Ask
  /** Whether the application passed `complete`, and so signs the user in itself. Otherwise, Passport does. */
  readonly hasComplete: boolean
}

const NEEDS_COMPLETE =
  'A login was refused instead of letting the user choose, because limiter.choice() cannot sign this user in without ' +
  'Passport. Pass limiter.choice() a `complete` that calls limiter.login(request, user) and then sets your session data.'

/** A login that needs a choice by the user. */
export interface AskedLogin {
  readonly visit: Visit
  readonly userId: UserId
  readonly choice: SessionChoice
  /** The label that the login was given. */
  readonly label: string | undefined
  /** Whether this login continues a pending login, so that no other pending login may be opened. */
  readonly isPending: boolean
}

/** Lets the user choose which sessions to end. Resolves to the error to throw, which refers to the choice. */
export type Ask = (login: AskedLogin) => Promise<SessmgrError>

/** Returns the function that every login goes through, in any framework. */
export function createLimitLogin(parts: LoginParts): LimitLogin {
  // If one request starts several logins, they run one after the other, each with the session of the previous one.
  const inTurn = createKeyedQueue<object>(HOLD_MS)
  return async (login) => {
    if (login.options?.session === false) return login.logIn()
    try {
      const userId = parts.userIdOf(login.user)
      if (login.visit.isTooEarly) refuseTooEarly(login.visit)
      const guard = parts.guardOf(login.visit)
      const { logger } = guard.options
      warnOfProxy(logger, login.visit)
      const admission = await inTurn(login.visit, () => admit(parts, guard, login, userId))
      if (login.visit.response?.headersSent) warnOfLateLogin(logger)
      if (!admission.admitted) throw await refusalOf(parts, login.visit, userId, admission)
    } catch (error) {
      login.forget?.()
      throw error
    }
  }
}

async function refusalOf(
  { asker }: LoginParts,
  visit: Visit,
  userId: UserId,
  { message, choice, label }: Admission & { admitted: false },
): Promise<SessmgrError> {
  const page = choice && asker?.()
  const isPending = visit.chosen !== undefined
  return page ? page.ask({ visit, userId, choice, label, isPending }) : new SessmgrError('login_limit_reached', message)
}

async function admit(
  { limiter, textsOf, devices, asker }: LoginParts,
  guard: SessionGuard,
  { visit, user, logIn, save }: HostLogin,
  userId: UserId,
): Promise<Admission> {
  await guard.ready()
  const { session: before, sessionID: sessionId = '' } = visit
  const holder = before && guard.pairOf(sessionId, before)?.userId
  const replaces = holder !== undefined && String(holder) === String(userId) ? sessionId : undefined

  const recognizer = devices && (await devices())
  const device = recognizer?.recognizeRequest(userId, visit)

  const page = asker?.()
  const from = visit.sessmgr?.session
  const attempt = {
    userId,
    user,
    requestOf: () => visit.own,
    // Most frameworks destroy the visitor's session at a login.
    from: from && { ...from, stays: false, since: await visit.givenUp(from.userId) },
    terms: visit.chosen && { label: visit.chosen.label ?? null, counts: true },
    replaces,
    continues: (await visit.dependsOn(userId))?.token,
    ...clientOfVisit(visit),
    device: device?.id,
    sentDevice: device?.isSent,
    ends: visit.chosen?.ends,
    canAsk: page && (page.hasComplete || visit.passportLogin !== undefined),
    cannotAsk: page && NEEDS_COMPLETE,
    texts: () => textsOf(visit),
  }
  let unfinished: (() => Promise<void>) | undefined
  const establish = async () => {
    const revert = rememberSession(guard, visit)
    unfinished = revert
    try {
      await logIn()
      await save?.()
    } catch (error) {
      await revert()
      throw error
    } finally {
      unfinished = undefined
    }
    const { stored = {}, sessionID = '' } = visit
    if (sessionID === sessionId) warnOfKeptId(guard.options.logger, sessionID, visit)
    // The response may still change the lifetime, even if the session would already be over.
    const ttlMs = guard.lives.isOver(stored) ? OVER_MS : guard.lives.ttlOf(stored)
    return { sessionId: sessionID, ttlMs, takenUp: false, revert }
  }
  visit.login = { userId, sessionId }
  const admission = await limiter.admit(attempt, establish).finally(() => {
    visit.login = undefined
    // The session store still writes the new session. The request must not go on with it.
    unfinished?.().catch(() => {})
  })

  const { session, sessionID = '' } = visit
  if (admission.admitted && session) {
    const login = loginOf(admission.session)
    const { userId, token } = login
    const named = guard.options.sessionUser(session)
    guard.pair(sessionID, session, login)
    guard.noteRegistered(sessionID, visit.stored ?? session)
    visit.noteOrigin(userId, token, named !== undefined)
    if (named !== userId) warnOfOtherUser(guard.options.logger, userId, named, session)
    visit.attend(session)
    visit.sessmgr = { session: login }
    visit.admitted = admission.session
    if (device) recognizer?.remember(device, visit)
    if (visit.raw.headers.cookie?.includes(NOTICE_COOKIE)) await forgetNotice(visit)
    // The limiter has ended the session that this login replaces. Any other session was kept in case the login was
    // refused.
    const isKept = sessionID !== sessionId && replaces === undefined && sessionId !== visit.begunId
    if (isKept) await guard.leave(sessionId, holder, visit)
  }
  return admission
}

/** Removes the notice of an earlier session, so that no later page shows it. */
async function forgetNotice(visit: Visit): Promise<void> {
  const { clearNotice } = await import('./notice/tell-notice.ts')
  const { response } = visit
  if (response && !response.headersSent) clearNotice(visit, response)
}

/** Remembers the visitor's session, and returns a function that restores it after a refused login. */
function rememberSession({ calls }: SessionGuard, visit: Visit): () => Promise<void> {
  const { sessionID: sessionId = '', session } = visit
  const text = JSON.stringify(session ?? null)
  const pair = session?.[PAIR_KEY]
  const { response } = visit
  const cookies = response && cookiesOf(response)
  let refusedId: string | undefined
  return async () => {
    const data = JSON.parse(text) as HostSessionData | null
    if (data && pair !== undefined) data[PAIR_KEY] = pair
    if (refusedId === undefined) {
      refusedId = visit.sessionID ?? sessionId
      await visit.restore(sessionId, data)
      if (cookies && !response.headersSent) restoreCookies(response, cookies)
    }
    if (refusedId !== sessionId) await calls.destroy(refusedId, visit)
    // Some frameworks do not create a new session at login, so the user is already in the visitor's session.
    else if (data) await calls.set(sessionId, data, visit)
  }
}

/** Keeps the cookie of a refused login out of the response. Koa sets it as soon as it creates the session. */
function restoreCookies(response: HostResponse, cookies: string[]): void {
  if (String(cookiesOf(response)) === String(cookies)) return
  if (cookies.length > 0) response.setHeader('Set-Cookie', cookies)
  else response.removeHeader('Set-Cookie')
}
