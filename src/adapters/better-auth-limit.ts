import type { AuthContext, BetterAuthPlugin, GenericEndpointContext } from 'better-auth'
import { createAuthMiddleware } from 'better-auth/api'
import { deleteSessionCookie } from 'better-auth/cookies'
import { SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { requireOptions } from '../ground/option-checks.ts'
import type { RequestState } from '../guard/host-types.ts'
import type { JoinedSessions } from '../guard/stores/session-stores.ts'
import type { Sessmgr } from '../service/service.ts'
import { coreOf } from '../service/service-core.ts'
import {
  apiError,
  type BetterAuthLimitOptions,
  type BetterAuthSession,
  BetterAuthSessions,
  type Carried,
  lifeOf,
  rethrow,
} from './better-auth-sessions.ts'
import type { ExplicitCalls } from './explicit-calls.ts'
import type { FetchCalls } from './fetch-calls.ts'

/** The plugin that `sessionLimit` returns. */
export interface SessionLimitPlugin extends BetterAuthPlugin {
  /** Always `sessmgr`. */
  readonly id: 'sessmgr'
  /** better-auth's sessions, for `fetchCalls`. */
  readonly sessions: JoinedSessions
  /** The explicit calls on better-auth's sessions. A session id is better-auth's `token`. */
  readonly calls: ExplicitCalls
  /**
   * Checks the session of a request outside better-auth's endpoints. The pages that `door` serves then know the caller,
   * and the next page shows why a session is over.
   *
   * @param door The calls that `fetchCalls(limiter, plugin.sessions)` returned.
   */
  check(door: FetchCalls, request: Request): Promise<RequestState>
}

/** Plugins that copy cookies into the response of a framework, for which they have to be last. */
const COPIES_COOKIES = /^(next|sveltekit|tanstack-start)-cookies/
const CARRIED = Symbol('sessmgr.carried')

/** What all hooks of a request share. */
type Shared = AuthContext & {
  [CARRIED]?: Carried | undefined
  readonly returned?: unknown
  readonly responseHeaders?: Headers | undefined
}
type Call = GenericEndpointContext & { readonly context: Shared }

/**
 * Limits the sessions of better-auth's users. Put the plugin last, because no session may leave before its login is
 * admitted. Only plugins that copy cookies for a framework come after it. Otherwise, `betterAuth()` fails.
 *
 * @throws SessmgrError `invalid_option` if an argument is invalid.
 * @example
 * const auth = betterAuth({ plugins: [twoFactor(), bearer(), sessionLimit(limiter)] })
 */
export function sessionLimit(limiter: Sessmgr, options: BetterAuthLimitOptions = {}): SessionLimitPlugin {
  const hasDevices = coreOf(limiter, 'sessionLimit(limiter)').devices !== undefined
  requireOptions('sessionLimit', options, ['counts', 'refusedUrl', 'adoptBefore'])
  const sessions = new BetterAuthSessions(limiter, options)
  const { arrive, leave } = createHooks(sessions, options.refusedUrl, hasDevices)
  const ownOf = (call: GenericEndpointContext | null) => (call?.context as Shared | undefined)?.[CARRIED]
  const always = (handle: (call: Call) => Promise<unknown>) => ({
    matcher: () => true,
    handler: createAuthMiddleware((call) => handle(call as unknown as Call).catch(rethrow)),
  })
  const plugin: SessionLimitPlugin = {
    id: 'sessmgr',
    sessions,
    calls: sessions.calls,
    async check(door, request) {
      const { context } = sessions
      const token = await tokenIn(context, await withBearer(context, request.headers))
      const { session, ended } = token ? await sessions.check(token) : {}
      if (token && session) return door.check(request, { userId: session.userId, sessionId: token })
      return token && ended ? door.missing(request, { sessionId: token }) : {}
    },
    init(context) {
      const { plugins = [], database, secondaryStorage } = context.options
      const behind = plugins.slice(plugins.indexOf(plugin) + 1).find(({ id }) => !COPIES_COOKIES.test(id))
      if (behind) throw invalidOption(`sessionLimit() must come after the plugin "${behind.id}" of better-auth`)
      if (!database && !secondaryStorage) throw invalidOption('sessionLimit() needs "database" or "secondaryStorage"')
      sessions.start(context)
      const session = {
        create: { before: async ({ token }: Partial<BetterAuthSession>) => sessions.note(String(token)) },
        update: { after: (changed: Partial<BetterAuthSession> | null) => sessions.prolong(changed).catch(rethrow) },
        delete: {
          before: ({ userId, token }: BetterAuthSession, call: GenericEndpointContext | null) =>
            sessions.release(userId, token, { own: ownOf(call), path: call?.path }).catch(rethrow),
          after: ({ userId, token }: BetterAuthSession) => sessions.releaseAgain(userId, token).catch(rethrow),
        },
      }
      const user = {
        delete: {
          before: ({ id }: { id: string }, call: GenericEndpointContext | null) =>
            sessions.releaseAll(id, ownOf(call)).catch(rethrow),
        },
      }
      return { options: { databaseHooks: { session, user } } }
    },
    hooks: { before: [always(arrive)], after: [always(leave)] },
  }
  return plugin
}

/** Returns what happens before and after each of better-auth's endpoints. */
function createHooks(sessions: BetterAuthSessions, refusedUrl: string | undefined, hasDevices: boolean) {
  /** Checks the session of a request. If it is over, the endpoint does not see it. */
  async function arrive(call: Call): Promise<unknown> {
    const { context: shared, path, request } = call
    const sent = call.headers ?? request?.headers
    const headers = sent && (await withBearer(shared, sent, request))
    const token = headers && (await tokenIn(shared, headers))
    const { sessionToken, sessionData } = shared.authCookies
    const hasCookie = cookieNames(sent).includes(sessionToken.name)
    const own = token ? { token, hasCookie, state: await sessions.check(token) } : undefined
    shared[CARRIED] = own
    shared.internalAdapter = sessions.listen(shared, own, path)
    if (!headers || !own) return undefined
    const over = own.state.ended ? [sessionToken.name, sessionData.name] : await overAmong(sessions, call, headers)
    // Another hook's headers can be replaced, but not removed.
    return over.length > 0 ? { context: { headers: withoutCookies(headers, over) } } : undefined
  }

  /** Admits the session that the endpoint has created, or reports why the session of the request is over. */
  async function leave(call: Call): Promise<void> {
    const { newSession, returned, [CARRIED]: own } = call.context
    const created = newSession?.session as BetterAuthSession | undefined
    if (created && sessions.takeNote(created.token)) {
      if (sessions.counts(created)) await admit(call, created).catch((error) => refuse(call, error))
    } else if (created && created.token !== own?.token) {
      // An older session, as after the end of an impersonation, or with a token for one login.
      if ((await sessions.check(created.token)).ended) await refuse(call, overError())
    } else if (own?.state.ended && !created) {
      if (own.hasCookie) deleteSessionCookie(call)
      if (statusOf(returned) === 401) throw apiError(overError(), own.state.ended)
    }
  }

  async function admit(call: Call, created: BetterAuthSession): Promise<void> {
    const { [CARRIED]: own, authCookies } = call.context
    const { token: sessionId, userId, ipAddress, userAgent } = created
    const secure = authCookies.sessionToken.attributes.secure === true
    const device = hasDevices ? { cookies: call.headers?.get('cookie'), secure } : undefined
    const client = { ip: ipAddress || null, userAgent: userAgent || null, device }
    const login = { userId, state: own?.state, replaces: own?.state.session && own.token, ...client }
    // The session exists already, but nobody outside knows its token.
    const create = async () => ({ sessionId, ttlMs: lifeOf(created) })
    const admission = await sessions.calls.login(login, create)
    if (!admission.admitted) throw new SessmgrError('login_limit_reached', admission.message)
    if (admission.deviceCookie) call.responseHeaders.append('set-cookie', admission.deviceCookie)
  }

  /** Takes a session that was not admitted back: the response must not contain its token. */
  async function refuse(call: Call, error: unknown): Promise<never> {
    const { context } = call
    const { newSession, authCookies, options, baseURL, returned } = context
    const token = String(newSession?.session.token)
    const names = [authCookies.sessionToken, authCookies.sessionData, authCookies.dontRememberToken]
    for (const given of [context.responseHeaders, call.responseHeaders]) {
      dropCookies(given, (text) => names.some(({ name }) => text.startsWith(name)) || text.includes(token))
      given?.delete('set-auth-token')
    }
    context.setNewSession(null)
    await sessions.destroy(token)
    if (statusOf(returned) !== 302 || !(error instanceof SessmgrError)) throw error
    const page = new URL(options.onAPIError?.errorURL ?? `${baseURL}/error`, baseURL)
    page.searchParams.set('error', error.code)
    throw call.redirect((error.code === 'login_limit_reached' && refusedUrl) || page.href)
  }

  return { arrive, leave }
}

/** Returns the cookies of other accounts in the same browser whose sessions are over. */
async function overAmong(
  sessions: BetterAuthSessions,
  { context, path, getSignedCookie }: Call,
  headers: Headers,
): Promise<readonly string[]> {
  if (!path.startsWith('/multi-session/')) return []
  const names = cookieNames(headers).filter((name) => name.includes('_multi-'))
  const isOver = async (name: string) => {
    const token = await getSignedCookie(name, context.secret)
    return Boolean(token) && (await sessions.check(String(token))).ended !== undefined
  }
  const over = await Promise.all(names.map(isOver))
  return names.filter((_, index) => over[index])
}

/** Returns the headers that better-auth's plugin for bearer tokens makes of these, with a cookie. */
async function withBearer(context: Shared, headers: Headers, request?: Request): Promise<Headers> {
  const bearer = context.getPlugin('bearer') as BetterAuthPlugin | null
  const [hook] = bearer?.hooks?.before ?? []
  const given = { headers, request, context } as never
  if (!hook?.matcher(given)) return headers
  const made = (await hook.handler(given)) as { context?: { headers?: Headers } } | undefined
  return made?.context?.headers ?? headers
}

/** Returns the token in the session's cookie, as better-auth's endpoints will find it. */
async function tokenIn(context: Shared, headers: Headers): Promise<string | false | null | undefined> {
  const { name } = context.authCookies.sessionToken
  const read = createAuthMiddleware((call) => call.getSignedCookie(name, context.secret))
  return read({ headers, context } as never)
}

const cookieNames = (headers: Headers | undefined) =>
  (headers?.get('cookie') ?? '').split(';').map((pair) => pair.split('=', 1)[0]?.trim() ?? '')

/** Returns the headers without these cookies and their chunks. */
function withoutCookies(headers: Headers, names: readonly string[]): Headers {
  const isOver = (pair: string) => names.some((name) => pair.startsWith(`${name}=`) || pair.startsWith(`${name}.`))
  const pairs = (headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
  const left = new Headers(headers)
  left.set('cookie', pairs.filter((pair) => !isOver(pair)).join('; '))
  return left
}

function dropCookies(headers: Headers | undefined, isDropped: (cookie: string) => boolean): void {
  const cookies = headers?.getSetCookie() ?? []
  headers?.delete('set-cookie')
  for (const cookie of cookies) if (!isDropped(cookie)) headers?.append('set-cookie', cookie)
}

const overError = () => new SessmgrError('session_ended', 'Your session is over.')

const statusOf = (returned: unknown): unknown => Object(returned).statusCode
