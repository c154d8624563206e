import { SessmgrError } from '../ground/errors.ts'
import { type Logger, warn } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { HostRequest, HostSessionData } from './host-types.ts'
import type { Visit } from './request/visit.ts'

/** Matches private addresses, from which the application's own proxies usually connect. */
const PRIVATE_ADDRESS = /^(::1$|f[cd]|(::ffff:)?(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\.)/i

/** Warns if the session of a login contains another user id, or none. */
export function warnOfOtherUser(
  logger: Logger,
  userId: UserId,
  named: UserId | undefined,
  { passport }: HostSessionData,
): void {
  // Without Passport, the application may not put the user into the session until after the login.
  if (named === undefined ? !passport : String(named) === String(userId)) return
  const found = named === undefined ? 'no user id that sessmgr can read' : 'a different user id'
  const effect = named === undefined ? 'are not limited' : 'count for the wrong user'
  warn(
    logger,
    'session-names-another-user',
    `After a login, the session holds ${found}. Sessions older than sessmgr, and sessions whose id your application ` +
      `changes, ${effect}. Set sessionUser: sessmgr({ sessionUser: (session) => … }).`,
  )
}

/** Warns about a login on a route that sessmgr is not mounted for. */
export function warnOfLoginPast(logger: Logger, visit: Visit | undefined): void {
  if (!visit || visit.sessmgr) return
  warn(
    logger,
    'routes-before-sessmgr',
    'A user signed in on a route mounted before sessmgr, or outside its path. Such logins may be counted late and show ' +
      'no address. Mount sessmgr before your login routes, and without a path.',
  )
}

/** Warns about a login through a proxy whose headers the framework ignores. */
export function warnOfProxy(logger: Logger, { ip, raw }: Visit): void {
  const { 'x-forwarded-for': addresses, 'x-forwarded-proto': protocol } = raw.headers
  const peer = raw.socket?.remoteAddress
  // Clients on the Internet can send these headers themselves. Without a proxy, the framework must not trust them.
  if (peer === undefined || !PRIVATE_ADDRESS.test(peer)) return
  const hasOtherAddress = addresses !== undefined && ip === peer && !addresses.includes(peer)
  // Only Express has `secure` on Node's request.
  const isThoughtPlain = protocol === 'https' && (raw as HostRequest).secure === false
  if (!hasOtherAddress && !isThoughtPlain) return
  warn(
    logger,
    'proxy-not-trusted',
    "A login came through a proxy that your app does not trust. Sessions show the proxy's address, and secure " +
      "cookies are not sent. With one proxy, call app.set('trust proxy', 1) in Express, or pass trustProxy: 1 to Fastify. " +
      'In Koa, set app.proxy and app.maxIpsCount.',
  )
}

/** Warns about a login that was decided only after its response was sent. */
export function warnOfLateLogin(logger: Logger): void {
  warn(
    logger,
    'login-not-awaited',
    'A login was decided only after its response was sent, so the browser does not have its session. Respond only after ' +
      '"await limiter.login(request, user)", or in the callback of req.logIn().',
  )
}

/** Warns about a login that was refused when it was too late to tell the browser. */
export function warnOfLateRefusal(logger: Logger): void {
  warn(
    logger,
    'login-not-awaited',
    'A login was refused after its response had begun, so the browser shows a success. Log users in with ' +
      '"await limiter.login(request, user)" before you respond, or respond without res.write, res.writeHead and pipes.',
  )
}

/** Sessions with data that may be saved before the first login until a warning says that sessmgr has seen none. */
const MOST_UNNAMED = 2

/** What frameworks write into each session. */
const OF_FRAMEWORKS = ['cookie', '_expire', '_maxAge']

/**
 * Warns if sessions with data are saved before any login, because then nothing is limited.
 *
 * @param unnamed The ids of such sessions, to which this one is added.
 */
export function warnOfNoLogin(
  logger: Logger,
  unnamed: Set<string>,
  sessionId: string,
  data: HostSessionData,
  visit: Visit | undefined,
): void {
  // Logins by Passport are always seen.
  if (unnamed.size > MOST_UNNAMED || visit?.passportLogin || data.passport) return
  if (Object.keys(data).every((key) => OF_FRAMEWORKS.includes(key))) return
  if (unnamed.add(sessionId).size <= MOST_UNNAMED) return
  warn(
    logger,
    'no-login-seen',
    'Sessions with data are saved, but sessmgr has seen no login, so nothing is limited so far. If users have signed in, ' +
      'say whose sessions these are: sessmgr({ sessionUser: (session) => session.user?.id }). ' +
      'Or log users in with limiter.login(request, user).',
  )
}

/** Warns about a session that another process, with a memory of its own, uses as well. */
export function warnOfOtherProcess(logger: Logger): void {
  warn(
    logger,
    'several-memory-stores',
    'Another process uses a session of this process, but each has its sessmgr store in its own memory, so limits and ' +
      'logouts do not apply across processes. Use a store that all processes share: sqliteStore() from sessmgr/sqlite for ' +
      'one machine, postgresStore() from sessmgr/postgres, or redisStore() from sessmgr/redis.',
  )
}

/** Warns if the application's own login keeps the session id that the request came with. */
export function warnOfKeptId(logger: Logger, sessionId: string, visit: Visit | undefined): void {
  if (!visit?.hasSent(sessionId)) return
  warn(
    logger,
    'login-keeps-the-session-id',
    'A login kept the session id. An attacker who planted that id is now signed in too (session fixation). Call ' +
      'req.session.regenerate(callback) before you store the user in the session, or use limiter.login(request, user).',
  )
}

/** Checks whether a request got its session only after it had passed sessmgr. */
function cameTooEarly(visit: Visit): boolean {
  return visit.isTooEarly && Boolean(visit.session)
}

const CURE =
  'sessmgr is mounted before the session middleware. Move app.use(limiter), or app.use(koaSessmgr(limiter, app)), after ' +
  'app.use(session(…))'

/**
 * Warns once if a request shows that sessmgr is mounted before the session middleware, and returns true in that case.
 * Call it at the end of the response.
 */
export function warnIfTooEarly(visit: Visit, logger: Logger): boolean {
  if (!cameTooEarly(visit)) return false
  const cure = `${CURE}, and set "sessionStore" to your session store.`
  warn(logger, 'mounted-before-the-session', `Sessions are not checked and not limited: ${cure}`)
  return true
}

/**
 * Refuses a login that would not be limited.
 *
 * @throws SessmgrError `session_middleware_missing`.
 */
export function refuseTooEarly(visit: Visit): void {
  if (!cameTooEarly(visit)) return
  throw new SessmgrError('session_middleware_missing', `This login cannot be limited: ${CURE}.`)
}

/** Key of the first in-memory store of this process. All copies of the package use the same key. */
const FIRST: unique symbol = Symbol.for('sessmgr.first-memory')

/**
 * Warns once per process about a second limiter that counts in memory. A bundler may run the module that creates the
 * limiter more than once. Does nothing in tests, where several limiters are usual.
 */
export function warnOfSecondLimiter(store: SessmgrStore, logger: Logger, env = process.env): void {
  if (!store.local || env.NODE_ENV === 'test') return
  const shared = globalThis as { [FIRST]?: { readonly store: SessmgrStore; isRepeated: boolean } }
  shared[FIRST] ??= { store, isRepeated: false }
  if (shared[FIRST].store === store || shared[FIRST].isRepeated) return
  shared[FIRST].isRepeated = true
  warn(
    logger,
    'several-memory-stores',
    'This process has a second limiter, and each counts logins on its own. Create only one: ' +
      'const limiter = (globalThis.sessionLimiter ??= sessmgr(…)).',
  )
}
