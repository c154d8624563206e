import { SessmgrError } from '../ground/errors.ts'
import type { UserId } from '../ground/user-id.ts'
import type { Admission } from '../limiter/admit-login.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import { createUserQueue } from '../limiter/user-queue.ts'
import type { ReaderTexts } from '../texts/texts-for.ts'
import type { AskedLogin } from './ask-user.ts'
import type { GuardedRequest, HostLogin, HostSessionData, LimitLogin } from './host-types.ts'
import type { DeviceCookies } from './request/device-cookies.ts'
import { passportOf } from './request/passport-of.ts'
import { Standing } from './request/standing.ts'
import type { HostedStore } from './session-exchange.ts'
import { sessionTtl } from './session-ttl.ts'

/**
 * Lifetime of a new session until the response to its login saves it. An interrupted login must not occupy a slot for
 * days.
 */
const UNCONFIRMED_MS = 120_000

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
      const store = parts.storeOf(login.request)
      const admission = await inTurn(login.request, () => admit(parts, store, login, userId))
      if (!admission.admitted) throw await refusalOf(parts, login.request, userId, admission)
    } catch (error) {
      login.forget?.()
      throw error
    }
  }
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
  { request, logIn, save }: HostLogin,
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
    if (sessionID === sessionId && request._sessionManager) guard.warnings.noteOldPassport()
    const lifeMs = sessionTtl(session)
    return { sessionId: sessionID, ttlMs: Math.min(lifeMs, UNCONFIRMED_MS), lifeMs, revert }
  }
  const at = Date.now()
  standing.login = { userId, sessionId, at }
  const admission = await limiter.admit(attempt, establish).finally(() => {
    standing.login = undefined
  })

  const { session, sessionID = '' } = request
  if (admission.admitted && session) {
    const { userId, token } = admission.session
    const named = guard.options.sessionUser(session)
    guard.mark(sessionID, session, { userId, token }, at)
    standing.noteOrigin(userId, token, named !== undefined)
    guard.warnings.compareUsers(userId, named, session)
    store.attend?.(session)
    request.sessmgr = { session: { userId, token } }
    if (device) recognizer?.remember(device, request)
    if (replaces !== undefined && before?.passport && !session.passport) guard.warnings.noteLostPassport()
    // The limiter has ended the session that this login replaces. Any other session was kept in case the login was
    // refused.
    const isKept = sessionID !== sessionId && replaces === undefined && sessionId !== standing.begunId
    if (isKept) await guard.leave(sessionId, holder, request)
  }
  return admission
}

/** Remembers the visitor's session, and returns a function that restores it after a refused login. */
function rememberSession(store: HostedStore, request: GuardedRequest): () => Promise<void> {
  const { sessionID: sessionId = '', session } = request
  const text = JSON.stringify(session ?? null)
  return async () => {
    const data = JSON.parse(text) as HostSessionData | null
    const refusedId = request.sessionID
    await store.putBack(request, sessionId, data)
    if (refusedId !== undefined && refusedId !== sessionId) await store.guard.calls.destroy(refusedId)
    // Some frameworks do not create a new session at login, so the user is already in the visitor's session.
    else if (data) await store.guard.calls.set(sessionId, data)
  }
}
