import type { AuthContext, BetterAuthPlugin, GenericEndpointContext } from 'better-auth'
import { createAuthMiddleware } from 'better-auth/api'
import type { ExplicitCalls, JoinedSessions } from '../../explicit.ts'
import { coreOf, type ServiceCore } from '../../extend.ts'
import type { FetchCalls } from '../../fetch.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { warn } from '../../ground/logger.ts'
import { requireOptions } from '../../ground/option-checks.ts'
import type { RequestState, Sessmgr } from '../../index.ts'
import {
  type BetterAuthLimitOptions,
  type BetterAuthSession,
  BetterAuthSessions,
  type CreatedSession,
  lifeOf,
} from './better-auth-sessions.ts'
import { apiError, guardReads, rethrow, type Visit } from './guard-reads.ts'

/** The plugin that `sessionLimit` returns. */
export interface SessionLimitPlugin extends BetterAuthPlugin {
  /** Always `sessmgr`. */
  readonly id: 'sessmgr'
  /** better-auth's sessions, for `fetchCalls`. */
  readonly sessions: JoinedSessions
  /** The explicit calls on better-auth's sessions, whose `sessionId` is better-auth's `token`. */
  readonly calls: ExplicitCalls
  /**
   * Checks the session of a request outside better-auth's endpoints. The pages that `calls` serves then know the caller,
   * and the next page shows why a session ended.
   *
   * @param calls The result of `fetchCalls(limiter, plugin.sessions)`.
   */
  check(calls: FetchCalls, request: Request): Promise<RequestState>
}

/** Matches plugins that act on a login as soon as it has a cookie. The login must be admitted before they run. */
const BEHIND = /^(anonymous|multi-session|oauth-provider)$|-cookies/
const VISIT = Symbol('sessmgr.visit')

/** The context that all hooks of a call share. */
type Shared = AuthContext & {
  [VISIT]?: Visit | undefined
  readonly returned?: unknown
  readonly responseHeaders?: Headers | undefined
}
type Call = GenericEndpointContext & { readonly context: Shared }

/**
 * Returns a better-auth plugin that limits users' sessions. Put it last, because no token may be sent before its login
 * is admitted. Only plugins that act on an admitted login come after it: `anonymous()`, `multiSession()`,
 * `oauthProvider()`, and plugins that copy cookies for a framework. In any other order, `betterAuth()` fails.
 *
 * @throws SessmgrError `invalid_option` if an argument is invalid.
 * @example
 * const auth = betterAuth({ plugins: [twoFactor(), bearer(), sessionLimit(limiter)] })
 */
export function sessionLimit(limiter: Sessmgr, options: BetterAuthLimitOptions = {}): SessionLimitPlugin {
  const core = coreOf(limiter, 'sessionLimit(limiter)')
  requireOptions('sessionLimit', options, ['counts', 'refusedUrl', 'adoptBefore'])
  const sessions = new BetterAuthSessions(limiter, options)
  const { arrive, leave } = createHooks(sessions, options.refusedUrl, core)
  const visitOf = (call: GenericEndpointContext | null) => (call?.context as Shared | undefined)?.[VISIT]
  const always = (handle: (call: Call) => Promise<unknown>) => ({
    matcher: () => true,
    handler: createAuthMiddleware((call) => handle(call as unknown as Call).catch(rethrow)),
  })
  const plugin: SessionLimitPlugin = {
    id: 'sessmgr',
    sessions,
    calls: sessions.calls,
    async check(calls, request) {
      const { context } = sessions
      const sessionId = await tokenIn(context, await withBearer(context, request.headers))
      if (!sessionId) return {}
      if (!(await sessions.exists(sessionId))) return calls.missing(request, { sessionId })
      const userId = sessions.knownUserOf(sessionId)
      const { session = undefined, ended = undefined } = userId
        ? { session: { userId } }
        : await sessions.check(sessionId)
      if (session) return calls.check(request, { userId: session.userId, sessionId })
      return ended ? calls.missing(request, { sessionId }) : {}
    },
    init(context) {
      const { plugins = [], database, secondaryStorage } = context.options
      const own = plugins.indexOf(plugin)
      plugins.forEach(({ id }, index) => {
        const side = BEHIND.test(id) ? 'before' : 'after'
        const isRight = index === own || index > own === (side === 'before')
        if (!isRight) throw invalidOption(`sessionLimit() must come ${side} better-auth's "${id}" plugin`)
      })
      if (!database && !secondaryStorage) throw invalidOption('sessionLimit() needs "database" or "secondaryStorage"')
      sessions.start(context)
      // If the settings cannot be read now, the next login reads them.
      core.limiter.settings.get().then(
        ({ logic }) => core.limiter.modes.strategyOf(logic).asks && warnOfAsk(core),
        () => {},
      )
      type Caller = GenericEndpointContext | null
      const note = async (created: Partial<BetterAuthSession>, call: Caller) => sessions.note(created, visitOf(call))
      const session = {
        // Noted twice, because the application's own hooks may change the token in between.
        create: { before: note, after: note },
        update: { after: (changed: Partial<BetterAuthSession> | null) => sessions.prolong(changed).catch(rethrow) },
        delete: {
          before: ({ userId, token }: BetterAuthSession, call: Caller) =>
            sessions.release(userId, token, visitOf(call)).catch(rethrow),
          after: ({ userId, token }: BetterAuthSession) => sessions.releaseAgain(userId, token).catch(rethrow),
        },
      }
      const user = {
        delete: {
          before: ({ id }: { id: string }, call: Caller) => sessions.releaseAll(id, visitOf(call)).catch(rethrow),
        },
      }
      return { options: { databaseHooks: { session, user } } }
    },
    hooks: { before: [always(arrive)], after: [always(leave)] },
  }
  return plugin
}

/** Returns the hooks that run before and after each of better-auth's endpoints. */
function createHooks(sessions: BetterAuthSessions, refusedUrl: string | undefined, core: ServiceCore) {
  const takeBack = (call: Call, error: unknown) => refuse(sessions, refusedUrl, call, error)

  /** Checks the session of a request. If the session has ended, the endpoint does not find it. */
  async function arrive(call: Call): Promise<void> {
    const { context: shared, path, request } = call
    const sent = call.headers ?? request?.headers
    const headers = sent && (await withBearer(shared, sent, request))
    const token = (headers && (await tokenIn(shared, headers))) || undefined
    const isInCookie = sent !== undefined && (headers === sent || (await tokenIn(shared, sent)) === token)
    const state = token ? await sessions.check(token) : {}
    const { created = [] } = shared[VISIT] ?? {}
    const visit = { token, state, isInCookie, path, created }
    Object.assign(shared, { [VISIT]: visit }, guardReads(sessions, shared, visit))
    // An earlier hook may already have loaded the ended session.
    if (state.ended && shared.session?.session.token === token) shared.session = null
  }

  /** Admits the session that the endpoint has created, or reports why the session of the request ended. */
  async function leave(call: Call): Promise<void> {
    const { [VISIT]: visit } = call.context
    if (!visit) return
    try {
      await settle(call, visit)
    } finally {
      await sessions.depart(visit)
    }
  }

  async function settle(call: Call, visit: Visit): Promise<void> {
    const { token, state, isAsked, path } = visit
    const { newSession, returned } = call.context
    const created = newSession?.session as BetterAuthSession | undefined
    const note = created && sessions.takeNote(created.token)
    if (note) await admit(call, created, note).catch((error) => takeBack(call, error))
    else if (path === '/sign-out' && !visit.isReleased && state.session && token) {
      // better-auth may have deleted the session already, in a call that will replace it.
      await sessions.calls.logout({ userId: state.session.userId, sessionId: token })
    } else if (created && created.token !== token) {
      // The browser gets an older session, after an impersonation or with a one-time token.
      if ((await sessions.check(created.token)).ended) await takeBack(call, overError())
    } else if (state.ended && !created) {
      if (isAsked && statusOf(returned) === 401) throw apiError(overError(), state.ended)
    }
  }

  async function admit(call: Call, created: BetterAuthSession, note: CreatedSession): Promise<void> {
    const { [VISIT]: visit, authCookies } = call.context
    const { token: sessionId, userId, ipAddress, userAgent } = created
    const secure = authCookies.sessionToken.attributes.secure === true
    const device = core.devices ? { cookies: call.headers?.get('cookie'), secure } : undefined
    const client = { ip: ipAddress || null, userAgent: userAgent || null, device }
    const own = visit?.state.session
    const counts = sessions.counts(created)
    const login = {
      userId,
      state: visit?.state,
      replaces: own && visit?.token,
      counts,
      requestOf: () => call.request,
      ...client,
    }
    // With a cookie cache, no request has to come with the session soon.
    const takenUp = call.context.options.session?.cookieCache?.enabled === true
    const admission = await sessions.register(note, login, { sessionId, ttlMs: lifeOf(created), takenUp })
    if (!admission.admitted && admission.choice) warnOfAsk(core)
    if (!admission.admitted) throw new SessmgrError('login_limit_reached', admission.message)
    if (admission.deviceCookie) call.responseHeaders.append('set-cookie', admission.deviceCookie)
    await leaveOther(sessions, call, created)
  }

  return { arrive, leave }
}

/** Ends another user's session that the browser had until this login and can no longer use. */
async function leaveOther(
  sessions: BetterAuthSessions,
  call: Call,
  { userId, impersonatedBy }: BetterAuthSession,
): Promise<void> {
  const { [VISIT]: visit, hasPlugin, internalAdapter } = call.context
  const { token: sessionId, state, isInCookie } = visit ?? {}
  const other = state?.session?.userId
  if (!call.request || !sessionId || !isInCookie || other === undefined || other === userId) return
  if (impersonatedBy || hasPlugin('multi-session')) return
  // The anonymous plugin moves the guest's data to the new user.
  const user = hasPlugin('anonymous') && (await internalAdapter.findUserById(String(other)))
  if (user && 'isAnonymous' in user && user.isAnonymous) return
  // If this fails, the session stays until it expires.
  await sessions.calls.logout({ userId: other, sessionId }).catch(() => {})
}

/** Takes back a session that was not admitted: the response must not contain its token. */
async function refuse(
  sessions: BetterAuthSessions,
  refusedUrl: string | undefined,
  call: Call,
  error: unknown,
): Promise<void> {
  const { context } = call
  const { newSession, authCookies, options, baseURL, returned, responseHeaders } = context
  const token = String(newSession?.session.token)
  const names = [authCookies.sessionToken, authCookies.sessionData, authCookies.dontRememberToken]
  for (const given of [context.responseHeaders, call.responseHeaders]) {
    dropCookies(given, (text) => names.some(({ name }) => text.startsWith(name)) || text.includes(token))
    given?.delete('set-auth-token')
  }
  context.setNewSession(null)
  await sessions.destroy(token)
  if (!responseHeaders?.has('location') || !(error instanceof SessmgrError)) throw error
  const page = new URL(options.onAPIError?.errorURL ?? `${baseURL}/error`, baseURL)
  page.searchParams.set('error', error.code)
  const [popup] = (context.getPlugin('oauth-popup') as BetterAuthPlugin | null)?.hooks?.after ?? []
  // The popup's page passes the error in this header to the page that opened it.
  responseHeaders.set('location', page.href)
  if (popup && returned instanceof Response) return void (await popup.handler(call as never))
  throw call.redirect((error.code === 'login_limit_reached' && refusedUrl) || page.href)
}

/** Returns the headers with the cookie that better-auth's bearer plugin adds for a token. */
async function withBearer(context: Shared, headers: Headers, request?: Request): Promise<Headers> {
  const bearer = context.getPlugin('bearer') as BetterAuthPlugin | null
  const [hook] = bearer?.hooks?.before ?? []
  const given = { headers, request, context } as never
  if (!hook?.matcher(given)) return headers
  const made = (await hook.handler(given)) as { context?: { headers?: Headers } } | undefined
  return made?.context?.headers ?? headers
}

/** Reads the token in the session cookie as better-auth's endpoints do. */
async function tokenIn(context: Shared, headers: Headers): Promise<string | false | null | undefined> {
  const { name } = context.authCookies.sessionToken
  const read = createAuthMiddleware((call) => call.getSignedCookie(name, context.secret))
  return read({ headers, context } as never)
}

function dropCookies(headers: Headers | undefined, isDropped: (cookie: string) => boolean): void {
  const cookies = headers?.getSetCookie() ?? []
  headers?.delete('set-cookie')
  for (const cookie of cookies) if (!isDropped(cookie)) headers?.append('set-cookie', cookie)
}

function warnOfAsk({ options }: ServiceCore): void {
  const message = 'sessionLimit() treats "ask" mode as "block", because better-auth has no page for the choice.'
  warn(options.logger, 'nobody-can-be-asked', message)
}

const overError = () => new SessmgrError('session_ended', 'Your session ended.')

const statusOf = (returned: unknown): unknown => Object(returned).statusCode
