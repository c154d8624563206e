import { createUserQueue } from '../ground/deadline.ts'
import { SessmgrError } from '../ground/errors.ts'
import type { UserId } from '../ground/user-id.ts'
import type { Admission } from '../limiter/admit-login.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { ReaderTexts } from '../texts/texts-for.ts'
import type { AskedLogin } from './ask-user.ts'
import type { GuardedRequest, HostLogin, HostSessionData, LimitLogin } from './host-types.ts'
import { hiddenIn, putMarker } from './marker-place.ts'
import { messageOf } from './notice/node-pair.ts'
import { NOTICE_COOKIE } from './notice/notice-parts.ts'
import { onCutOff, responseTo, UNCONFIRMED_MS } from './request/cut-off.ts'
import type { DeviceCookies } from './request/device-cookies.ts'
import type { RequestLike } from './request/host-visit.ts'
import { passportOf } from './request/passport-of.ts'
import { Standing } from './request/standing.ts'
import { refuseTooEarly } from './request/too-early.ts'
import type { HostedStore } from './session-exchange.ts'

/**
 * How long a login may delay the next login of the same request. A login that is started inside another cannot wait for
 * it to finish.
 */
const HOLD_MS = 250

export interface LoginParts {
  readonly limiter: SessionLimiter
  readonly userIdOf: (user: unknown) => UserId
  /** Finds the store with the session of a request. */
  readonly storeOf: (request: GuardedRequest) => HostedStore
  /** Returns the texts for the user of a request. */
  readonly textsOf: (request: GuardedRequest) => ReaderTexts
  /** Loads the code that recognizes browsers. Undefined without the option `device`. */
  readonly devices?: (() => Promise<DeviceCookies>) | undefined
  /**
   * Returns what lets users choose which sessions to end, or undefined while no page for choosing is mounted.
   */
  readonly asker?: (() => Asker | undefined) | undefined
}

/** The page for choosing, as a login needs it. */
export interface Asker {
  readonly ask: Ask
  /** Whether the application signs the user in there itself. Otherwise Passport does. */
  readonly hasComplete: boolean
}

const NEEDS_COMPLETE =
  'A login was refused instead of letting the user choose, because limiter.choice() cannot sign this user in without ' +
  'Passport. Pass `complete` to limiter.choice(), which calls limiter.login(request, user) and then sets your session data.'

/** Lets the user choose which sessions to end. Resolves to the error that refers to the choice. */
export type Ask = (login: AskedLogin) => Promise<SessmgrError>

/** Creates the function that every login goes through, in any framework. */
export function createLimitLogin(parts: LoginParts): LimitLogin {
  // If one request starts several logins, they run one after the other, each with the session of the previous one.
  const inTurn = createUserQueue<object>(HOLD_MS)
  return async (login) => {
    if (login.options?.session === false) return login.logIn()
    try {
      const userId = parts.userIdOf(login.user)
      refuseTooEarly(login.request)
      if (login.keepsSessionId) await refuseOldPassport(parts.limiter, userId)
      const store = parts.storeOf(login.request)
      const admission = await inTurn(login.request, () => admit(parts, store, login, userId))
      if (!admission.admitted) throw await refusalOf(parts, login.request, userId, admission)
    } catch (error) {
      login.forget?.()
      throw error
    }
  }
}

/**
 * Refuses a login by Passport before 0.6 if its mode can refuse it: those versions leave the user in the session and on
 * the request.
 *
 * @throws SessmgrError `session_middleware_unsupported`.
 */
async function refuseOldPassport(limiter: SessionLimiter, userId: UserId): Promise<void> {
  const mode = await limiter.refusingMode(userId)
  if (mode === undefined) return
  throw new SessmgrError(
    'session_middleware_unsupported',
    `The login was not begun: mode "${mode}" can refuse logins, and with this Passport, a refused login would look like ` +
      'a successful one. Update to Passport 0.6 or newer: npm install passport@latest.',
  )
}

async function refusalOf(
  { asker }: LoginParts,
  request: GuardedRequest,
  userId: UserId,
  { message, choice }: Admission & { admitted: false },
): Promise<SessmgrError> {
  const page = choice && asker?.()
  const isPending = Standing.of(request)?.chosen !== undefined
  return page ? page.ask({ request, userId, choice, isPending }) : new SessmgrError('login_limit_reached', message)
}

async function admit(
  { limiter, textsOf, devices, asker }: LoginParts,
  store: HostedStore,
  { request, keepsSessionId, logIn, save }: HostLogin,
  userId: UserId,
): Promise<Admission> {
  const { guard } = store
  const standing = Standing.at(request)
  await guard.marks.ready()
  const { session: before, sessionID: sessionId = '' } = request
  const holder = before && guard.markerOf(sessionId, before)?.userId
  const replaces = holder !== undefined && String(holder) === String(userId) ? sessionId : undefined

  const recognizer = devices && (await devices())
  const device = recognizer?.recognizeRequest(userId, request)

  const page = asker?.()
  const attempt = {
    userId,
    replaces,
    continues: (await standing.dependsOn(userId))?.token,
    ip: request.ip ?? request.socket.remoteAddress,
    userAgent: request.headers['user-agent'],
    device: device?.id,
    ends: standing.chosen,
    canAsk: page && (page.hasComplete || passportOf(request) !== undefined),
    cannotAsk: page && NEEDS_COMPLETE,
    texts: () => textsOf(request),
  }
  const establish = async () => {
    const revert = rememberSession(store, request)
    try {
      await logIn()
      await save?.()
    } catch (error) {
      await revert()
      throw error
    }
    const { session = {}, sessionID = '' } = request
    if (sessionID === sessionId && (keepsSessionId || request._sessionManager)) guard.warnings.noteOldPassport()
    const lifeMs = guard.lives.ttlOf(session)
    // The response may still change the lifetime, even one that would end the session.
    const ttlMs = guard.lives.isOver(session) ? UNCONFIRMED_MS : Math.min(lifeMs, UNCONFIRMED_MS)
    return { sessionId: sessionID, ttlMs, lifeMs, revert }
  }
  const at = Date.now()
  standing.login = { userId, sessionId, at }
  const admission = await limiter.admit(attempt, establish).finally(() => {
    standing.login = undefined
  })

  const { session, sessionID = '' } = request
  if (admission.admitted && session) {
    if (sessionID !== sessionId) guard.left.note(sessionId)
    const { userId, token } = admission.session
    const named = guard.options.sessionUser(session)
    // express-session always writes a session whose id is new. It writes any other only if it can see a change.
    const isHidden = store.hidesMarkers === true && sessionID !== sessionId
    guard.mark(sessionID, session, { userId, token }, at, isHidden)
    standing.noteOrigin(userId, token, named !== undefined)
    guard.warnings.compareUsers(userId, named, session)
    store.attend?.(session)
    request.sessmgr = { session: { userId, token } }
    if (device) recognizer?.remember(device, request)
    if (request.headers.cookie?.includes(NOTICE_COOKIE)) await forgetNotice(request)
    if (replaces !== undefined && before?.passport && !session.passport) guard.warnings.noteLostPassport()
    // The limiter has ended the session that this login replaces. Any other session was kept in case the login was
    // refused.
    const isKept = sessionID !== sessionId && replaces === undefined && sessionId !== standing.begunId
    if (isKept) await guard.leave(sessionId, holder, request)
    // With the id that it came with, the browser would still have the session.
    if (sessionID !== sessionId) onCutOff(request, () => void guard.giveBack(sessionID, request))
  }
  return admission
}

/** Removes the notice of an earlier session, so that no later page shows it. */
async function forgetNotice(request: GuardedRequest): Promise<void> {
  const { clearNotice } = await import('./notice/notice-cookie.ts')
  const response = responseTo(request)
  if (response && !response.headersSent) clearNotice(request, messageOf(request as RequestLike), response)
}

/** Remembers the visitor's session, and returns a function that restores it after a refused login. */
function rememberSession(store: HostedStore, request: GuardedRequest): () => Promise<void> {
  const { sessionID: sessionId = '', session } = request
  const text = JSON.stringify(session ?? null)
  const marker = session && hiddenIn(session)
  return async () => {
    const data = JSON.parse(text) as HostSessionData | null
    if (data && marker !== undefined) putMarker(data, marker, true)
    const refusedId = request.sessionID
    await store.putBack(request, sessionId, data)
    if (refusedId !== undefined && refusedId !== sessionId) await store.guard.calls.destroy(refusedId, request)
    // Some frameworks do not create a new session at login, so the user is already in the visitor's session.
    else if (data) await store.guard.calls.set(sessionId, data, request)
  }
}
