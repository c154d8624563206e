import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HostRequest, RequestState } from '../door/host-types.ts'
import { endedState, type Inspected } from '../door/load.ts'
import { CheckedVisit, VISIT, type Visited } from '../door/request/visit.ts'
import type { JoinedSessions } from '../door/stores/session-stores.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { requireWhole } from '../ground/option-checks.ts'
import { requireUserId, type UserId } from '../ground/user-id.ts'
import type { Admission } from '../limiter/admit-login.ts'
import type { EstablishedSession } from '../limiter/decision/commit-login.ts'
import type { LoginAttempt } from '../limiter/decision/evaluate-login.ts'
import { problemOfAnswer } from '../limiter/decision/login-option.ts'
import type { PendingLogins } from '../limiter/pending-logins.ts'
import type { Sessmgr } from '../service/service.ts'
import { coreOf, type ServiceCore } from '../service/service-core.ts'
import { type Token, tokenOf } from '../sessions/session-record.ts'
import type { SessmgrStore } from '../stores/store.ts'
import { type LoadedSession, type ReadingClient, ReadSessions, type SessionOfUser } from './read-sessions.ts'

/** A session in your framework, and its user. */
export interface SessionCall {
  /** Id of the user: a non-empty string or a safe integer. */
  readonly userId: UserId
  /** The raw session id, as in your store. */
  readonly sessionId: string
}

/** A login whose password check has passed. */
export interface LoginCall {
  /** Id of the user who logs in: a non-empty string or a safe integer. */
  readonly userId: UserId
  /**
   * Raw id of the browser's current session. If it belongs to the same user, the login replaces it. If it belongs to
   * another user, end it with `logout` after a login that counts.
   */
  readonly replaces?: string | null | undefined
  /**
   * The result of `check`, `load` or `adopt` for this request. If its session has ended since and belongs to the same
   * user, the login is refused with `session_ended`: a slow request must not bring an ended session back. @default {}
   */
  readonly state?: RequestState | undefined
  /**
   * Tokens of the sessions that the user chose to end, in `ask` mode. These sessions end if the login is admitted.
   * Tokens of other users are ignored. @default []
   */
  readonly ends?: readonly Token[] | undefined
  /** Label of the session, of 1 to 64 characters. @default what the `login` option says */
  readonly label?: string | undefined
  /**
   * Whether the session counts toward the limit. One that does not is never refused and ends nothing. If `state` has a
   * session of another user, it lasts only as long as that one. @default what the `login` option says
   */
  readonly counts?: boolean | undefined
  /** Address of the client, shown in lists of sessions. @default null */
  readonly ip?: string | null
  /** User agent of the client, shown in lists of sessions. @default null */
  readonly userAgent?: string | null
  /**
   * How to recognize the browser. Requires the `device` option. Send the `deviceCookie` of the result with your
   * response.
   * @default unknown
   */
  readonly device?: DeviceCall | undefined
}

/** How to recognize the browser that logs in. Requires the `device` option. */
export interface DeviceCall {
  /** The `Cookie` header of the request. */
  readonly cookies: string | null | undefined
  /** Path of your session cookie. @default '/' */
  readonly path?: string | undefined
  /** Set this to false if browsers reach your application without HTTPS. @default true */
  readonly secure?: boolean | undefined
}

/** Functions to call from a framework without an adapter. If the store fails, they reject with `store_unavailable`. */
export interface ExplicitCalls {
  /**
   * Performs a login: checks the limit, calls `create`, registers the new session, and ends displaced sessions.
   *
   * For a limit that is exact across processes, `create` must resolve only once the session is in your store under its
   * final id. If the login is refused, `create` is not called. If another login takes the slot in the meantime, the
   * session is destroyed. In `ask` mode, the result of a refused login has a `choice`; see `pending`.
   *
   * @param create Creates the session, and returns its raw id and the milliseconds until it expires. If `ttlMs` is
   * invalid, the session is destroyed.
   * @throws SessmgrError `session_ended`, `user_id_missing`, `invalid_option`, `hook_failed`, `hook_timeout`,
   * `login_conflict`.
   */
  login(
    login: LoginCall,
    create: () => Promise<{ readonly sessionId: string; readonly ttlMs: number }>,
  ): Promise<Admission>
  /**
   * Checks whether a session is live. Call it on every request with a session. A session that has ended, or was never
   * registered, is destroyed in your store.
   *
   * @param session Include Node's `request` to identify the caller of `limiter.nonce(request)`, the REST routes and the
   * admin screen. Include its `response` so that the next page shows why the session ended.
   */
  check(
    session: SessionCall & { readonly request?: IncomingMessage; readonly response?: ServerResponse },
  ): Promise<RequestState>
  /**
   * Looks up how a session ended if your store no longer has it. Call this instead of `check` for a session id from a
   * cookie, after checking the cookie's signature.
   *
   * @param session Include `request` and `response` as for `check`.
   */
  missing(session: {
    readonly sessionId: string
    readonly request?: IncomingMessage
    readonly response?: ServerResponse
  }): Promise<RequestState>
  /**
   * Reads a session and checks whether it is live. Replaces `check` and `missing`, often with one Redis command.
   *
   * @param read Reads the session, and returns its data including the `userId`, or undefined if there is no session. If
   * `client` is passed, read with it: it is another connection to the server of `redisStore()`.
   * @example
   * calls.load({ sessionId }, async (client = redis) => JSON.parse((await client.get(sessionId)) ?? 'null'))
   */
  load<Data extends SessionOfUser>(
    session: { readonly sessionId: string; readonly request?: IncomingMessage; readonly response?: ServerResponse },
    read: (client?: ReadingClient) => PromiseLike<Data | null | undefined>,
  ): Promise<LoadedSession<Data>>
  /**
   * Records that a session was used, and that it now expires in `ttlMs`. Resolves to false if it is no longer
   * registered.
   *
   * Does not detect a site-wide logout. Within `touchEvery` of the last use recorded by this process, it also misses
   * sessions that other processes end. `check` and `load` detect both.
   */
  touch(session: SessionCall & { readonly ttlMs: number }): Promise<boolean>
  /**
   * Registers a session that is older than sessmgr, and checks whether it is live. After a site-wide logout, adopted
   * sessions are never live.
   *
   * @param session `counts`: whether it counts toward the limit; `loggedInAt`: when its user signed in, in milliseconds.
   */
  adopt(
    session: SessionCall & { readonly ttlMs: number; readonly counts?: boolean; readonly loggedInAt?: number },
  ): Promise<RequestState>
  /** Frees the slot of a session, and destroys the session in your store. Does nothing if the session is unknown. */
  logout(session: SessionCall): Promise<void>
  /** Logins that wait until the user has chosen which sessions to end. */
  readonly pending: PendingCalls
}

/**
 * Logins that wait until the user has chosen which sessions to end, in `ask` mode.
 *
 * If `login` is refused with a `choice`, open a pending login and keep its secret in a cookie. Once the user has
 * chosen, take the login, and call `login` again with `ends`. A pending login becomes void at a site-wide logout, when
 * `endAll` or `endOthers` ends sessions of the user, and when the user signs out all other devices or is erased.
 */
export interface PendingCalls {
  /**
   * Opens a pending login, and returns its secret.
   *
   * @param seconds How long the login waits, from 60 to 900. @default 300
   * @throws SessmgrError `store_unavailable`, `user_id_missing`, `invalid_option`; `session_ended` for an erased user.
   */
  open(userId: UserId, seconds?: number): Promise<string>
  /**
   * Returns the user of a pending login, or undefined if it is no longer pending.
   * @throws SessmgrError `store_unavailable`.
   */
  read(secret: string | undefined): Promise<UserId | undefined>
  /**
   * Takes a pending login, so that only one call gets it. Resolves to undefined if it is no longer pending.
   *
   * @throws SessmgrError `store_unavailable`; the login may still have been taken. `invalid_option` if the transient
   * store has no `take` method.
   */
  take(secret: string | undefined): Promise<TakenLogin | undefined>
}

/** A pending login that was taken. */
export interface TakenLogin {
  /** Id of the user who logs in. */
  readonly userId: UserId
  /**
   * Reopens the pending login if the user has to choose again. Resolves to false after three tries, or once the login
   * has expired.
   */
  putBack(): Promise<boolean>
}

/**
 * Applies the limit in a framework without an adapter. Call the returned functions at login, on each request and at
 * logout.
 *
 * Call this once, when your application starts.
 *
 * @param sessions Finds and destroys sessions in your store.
 * @throws SessmgrError `invalid_option` if `limiter` or `sessions` is invalid.
 * @example
 * const calls = explicitCalls(limiter, { exists: (id) => store.has(id), destroy: (id) => store.delete(id) })
 */
export function explicitCalls(limiter: Sessmgr, sessions: JoinedSessions): ExplicitCalls {
  const core = coreOf(limiter, 'explicitCalls(limiter, sessions)')
  requireMethods(sessions)
  const { stores, limiter: limit, notices } = core
  const held = stores.join({
    exists: (sessionId) => sessions.exists(sessionId),
    destroy(sessionId) {
      known.seen.delete(sessionId)
      return sessions.destroy(sessionId)
    },
  })
  const known = new ReadSessions(sessions, held, limit, core.options)
  const show = createShow(core)
  void notices.load()

  return {
    pending: createPendingCalls(core.options.store),
    async login(call, create) {
      if (typeof create !== 'function') throw invalidOption('"create" must be a function that creates the session')
      const { attempt, browser } = await attemptOf(core, call)
      const admission = await limit.admit(attempt, async () => {
        const { sessionId, ttlMs, takenUp } = ((await create()) ?? {}) as EstablishedSession
        requireSession(sessionId)
        const revert = () => held.destroy(sessionId)
        if (!isLife(ttlMs)) await revert()
        requireLife(ttlMs)
        return { sessionId, ttlMs, takenUp, revert }
      })
      if (admission.admitted && call.state) (call.state as AnsweredState)[SIGNED_IN] = true
      return admission.admitted && browser ? { ...admission, deviceCookie: browser.cookie } : admission
    },
    async check({ request, response, ...session }) {
      requireBoth(session)
      const { userId, sessionId } = session
      return show(sessionId, stateOf(await known.check(sessionId, userId)), request, response)
    },
    async missing({ sessionId, request, response }) {
      if (sessionId !== '') requireSession(sessionId)
      return show(sessionId, {}, request, response)
    },
    async load({ sessionId, request, response }, read) {
      if (sessionId !== '') requireSession(sessionId)
      if (typeof read !== 'function') throw invalidOption('"read" must be a function that reads the session')
      if (sessionId === '') return show(sessionId, {}, request, response)
      const found = await known.read(sessionId, read)
      if (found.data && !found.session) return { data: found.data }
      return show(sessionId, { ...stateOf(found), ...(found.data && { data: found.data }) }, request, response)
    },
    async touch({ ttlMs, ...session }) {
      requireBoth(session)
      requireLife(ttlMs)
      return known.touch(session.sessionId, session.userId, ttlMs)
    },
    async adopt({ ttlMs, counts, loggedInAt, ...session }) {
      requireBoth(session)
      requireLife(ttlMs)
      const { userId, sessionId } = session
      return stateOf(await known.adopt(sessionId, userId, ttlMs, { counts, loggedInAt }))
    },
    async logout(session) {
      requireBoth(session)
      await limit.release(session.userId, tokenOf(session.sessionId))
      await held.destroy(session.sessionId)
    },
  }
}

/** Checks a call that logs in, and returns what the limit needs of it, and the browser if it is recognized. */
async function attemptOf(core: ServiceCore, call: LoginCall) {
  requireUserId(call.userId)
  const { userId, replaces, state, ends, label, counts, ip, userAgent, device, ...more } = call
  requireTexts({ replaces, ip, userAgent })
  requireTokens(ends)
  const { requestOf, terms } = more as Pick<LoginAttempt, 'requestOf' | 'terms'>
  const given = { ...(label !== undefined && { label }), ...(counts !== undefined && { counts }) }
  const problem = problemOfAnswer(given)
  if (problem) throw invalidOption(problem)
  const browser = device && (await recognize(core, userId, device))
  const session = state?.session
  const attempt: LoginAttempt = {
    userId,
    requestOf,
    terms,
    replaces: replaces ?? undefined,
    continues: await sessionOf(userId, state),
    from: session && { ...session, stays: true },
    given: Object.keys(given).length > 0 ? given : undefined,
    ends,
    canAsk: true,
    ip,
    userAgent,
    device: browser?.id,
    sentDevice: browser?.isSent,
    texts: () => core.options.textsFor(),
  }
  return { attempt, browser }
}

function stateOf({ session, ended }: Inspected): RequestState {
  return session ? { session } : ended ? { ended } : {}
}

/**
 * Returns a function that attaches a session's state to its request. If the session has ended or is missing, it keeps
 * the notice for a page.
 */
function createShow({ limiter: limit, notices }: ServiceCore) {
  return async (sessionId: string, state: AnsweredState, request?: IncomingMessage, response?: ServerResponse) => {
    const { ended } = state
    if (!state.session) {
      const token = tokenOf(sessionId)
      const find = async () => ended ?? endedState(limit, token, 'missing')
      const isSignedIn = () => state[SIGNED_IN] === true
      state.ended = await (request && response ? notices.keep(request, token, find, response, isSignedIn) : find())
    }
    if (request) attach(request, sessionId, state)
    return state
  }
}

async function recognize({ devices }: ServiceCore, userId: UserId, { cookies, path, secure = true }: DeviceCall) {
  if (!devices) throw invalidOption('"device" needs sessmgr({ device: true })')
  requireTexts({ cookies, path })
  return (await devices()).recognize(userId, cookies ?? '', { path, secure })
}

/** Creates the calls for pending logins. Their code is loaded on first use. */
function createPendingCalls(store: SessmgrStore): PendingCalls {
  let loading: Promise<PendingLogins> | undefined
  const loaded = () => {
    loading ??= import('../limiter/pending-logins.ts').then((late) => new late.PendingLogins(store))
    return loading
  }
  return {
    async open(userId, seconds = 300) {
      requireUserId(userId)
      requireWhole('seconds', seconds, 60, 900)
      return (await loaded()).open(userId, seconds * 1000)
    },
    read: async (secret) => (await (await loaded()).read(secret))?.userId,
    async take(secret = '') {
      const pending = await loaded()
      const login = await pending.take(secret)
      if (!login) return undefined
      return { userId: login.userId, putBack: async () => (await pending.putBack(secret, true)) !== undefined }
    },
  }
}

/** Marks the state of a request that has logged in after its check. */
const SIGNED_IN = Symbol('sessmgr.signedIn')
/** Key of a request's visit in its state, set if the request was checked before. */
const CHECKED = Symbol('sessmgr.checked')

interface AnsweredState extends RequestState {
  [SIGNED_IN]?: true
  readonly [CHECKED]?: ExplicitVisit
}

/** Attaches the state of a session to its request. */
export function attach(request: IncomingMessage, sessionId: string, state: RequestState): void {
  const earlier = (request as Visited)[VISIT]
  const isRepeated = earlier instanceof ExplicitVisit
  const visit = isRepeated ? earlier : new ExplicitVisit(request)
  visit.identify(sessionId, state).standFor(request)
  // A login must know what an earlier check found, or a slow request could bring an ended session back.
  if (isRepeated) Object.defineProperty(state, CHECKED, { value: visit })
}

/** Returns the token of the user's session that a request with this state depends on. */
async function sessionOf(userId: UserId, state: AnsweredState = {}): Promise<Token | undefined> {
  const visit = state[CHECKED]
  const own = visit ? await visit.dependsOn(userId) : state.session
  return own && String(own.userId) === String(userId) ? own.token : undefined
}

/** A request whose session the application checks itself. */
class ExplicitVisit extends CheckedVisit {
  readonly raw: IncomingMessage

  constructor(raw: IncomingMessage) {
    super()
    this.raw = raw
  }

  get ip(): string | undefined {
    return (this.raw as HostRequest).ip
  }
}

function requireMethods(sessions: Partial<JoinedSessions> | undefined): void {
  if (typeof sessions?.exists === 'function' && typeof sessions.destroy === 'function') return
  throw invalidOption('"sessions" must have the methods exists(sessionId) and destroy(sessionId)')
}

export function requireBoth({ userId, sessionId }: SessionCall): void {
  requireUserId(userId)
  requireSession(sessionId)
}

export function requireSession(sessionId: unknown): void {
  if (typeof sessionId === 'string' && sessionId !== '') return
  throw invalidOption('"sessionId" must be the raw session id, a non-empty string')
}

function requireTexts(texts: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text === undefined || text === null || typeof text === 'string') continue
    throw invalidOption(`"${name}" must be a string or null`)
  }
}

function requireTokens(ends: unknown): void {
  if (ends === undefined || (Array.isArray(ends) && ends.every((token) => typeof token === 'string'))) return
  throw invalidOption('"ends" must be an array of session tokens')
}

function isLife(ttlMs: unknown): boolean {
  return Number.isSafeInteger(ttlMs) && (ttlMs as number) > 0
}

function requireLife(ttlMs: unknown): void {
  if (isLife(ttlMs)) return
  throw invalidOption('"ttlMs" must be the milliseconds until the session expires, a whole number of 1 or more')
}
