import { SessmgrError } from '../ground/errors.ts'
import { type Logger, WRONG_READER, warn, warnOnce, wasWarned } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { HostRequest, HostSessionData } from './host-types.ts'
import type { Visit } from './request/visit.ts'

/**
 * Matches the lowercase letters of session keys that usually hold a signed-in user. The whole key must match, because
 * visitors' sessions have keys such as `loginError`, `userAgent` or `pendingUserId`.
 */
const USER_KEY =
  /^(is|my|current|active|auth|loggedin|signedin)?(user|uid|account|customer|member|admin|email|log(in|ged|gedin)|signedin|auth(ed|enticated|orized)?)(id|name|email|data|info)?$/

/** If at least this many sessions seem to name a user, an application with Passport also logs users in without it. */
const LEAST_BESIDE_PASSPORT = 3

/** Matches private addresses, from which the application's own proxies usually connect. */
const PRIVATE_ADDRESS = /^(::1$|f[cd]|(::ffff:)?(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\.)/i

/** Warns once about each problem that keeps sessmgr from recognizing users and their logins. */
export class UserWarnings {
  readonly #logger: Logger
  #hasNotedNobody = false
  /** How many sessions seemed to name a user although Passport has seen no login. */
  #besidePassport = 0

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Warns if the session of a login contains another user id, or none. */
  compareUsers(userId: UserId, named: UserId | undefined, data: HostSessionData): void {
    // Without Passport, the application may not put the user into the session until after the login.
    if (named === undefined ? !data.passport : String(named) === String(userId)) return
    if (named === undefined && this.#isReaderWrong()) return
    const found = named === undefined ? 'no user id that sessmgr can read' : 'a different user id'
    const effect = named === undefined ? 'are not limited' : 'count for the wrong user'
    warnOnce(
      this.#logger,
      'session-names-another-user',
      `After a login, the session holds ${found}. Sessions older than sessmgr, and sessions whose id your application ` +
        `changes, ${effect}. Set sessionUser: sessmgr({ sessionUser: (session) => … }).`,
    )
  }

  /** Warns if `sessionUser` reads another user id, or none, from the saved session of a login. */
  compareSaved(userId: UserId, named: UserId | undefined): void {
    if (String(named) === String(userId) || this.#isReaderWrong()) return
    warnOnce(
      this.#logger,
      'login-saved-without-a-user-id',
      "A login was saved without its user's id where sessionUser reads it, so your application treats the user as a guest. " +
        'Set the id after "await limiter.login(request, user)", which starts an empty session.',
    )
  }

  /** Checks whether a warning was already logged because `sessionUser` returns something other than an id. */
  #isReaderWrong(): boolean {
    return wasWarned(this.#logger, WRONG_READER)
  }

  /** Warns about a login on a route that sessmgr is not mounted for. */
  noteLoginPast(visit: Visit | undefined): void {
    if (!visit || visit.sessmgr) return
    warnOnce(
      this.#logger,
      'login-before-sessmgr',
      'A user signed in on a route mounted before sessmgr, or outside its path. Such logins may be counted late and show ' +
        'no address. Mount sessmgr before your login routes, and without a path.',
    )
  }

  /** Warns about a login through a proxy whose headers the framework ignores. */
  noteProxy({ ip, raw }: Visit): void {
    const { 'x-forwarded-for': addresses, 'x-forwarded-proto': protocol } = raw.headers
    const peer = raw.socket?.remoteAddress
    // Clients on the Internet can send these headers themselves. Without a proxy, the framework must not trust them.
    if (peer === undefined || !PRIVATE_ADDRESS.test(peer)) return
    const hasOtherAddress = addresses !== undefined && ip === peer && !addresses.includes(peer)
    // Only Express has `secure` on Node's request.
    const isThoughtPlain = protocol === 'https' && (raw as HostRequest).secure === false
    if (!hasOtherAddress && !isThoughtPlain) return
    warnOnce(
      this.#logger,
      'proxy-not-trusted',
      "A login came through a proxy that your app does not trust. Sessions show the proxy's address, and secure " +
        "cookies are not sent. With one proxy, call app.set('trust proxy', 1) in Express, or pass trustProxy: 1 to Fastify. " +
        'In Koa, set app.proxy and app.maxIpsCount.',
    )
  }

  /** Warns about a client that logs in with each request, because each of these logins ends another session. */
  noteCredentials(visit: Visit): void {
    const { headers } = visit.raw
    if (headers.authorization === undefined || visit.hasSent(visit.sessionID ?? '')) return
    if (visit.presentedId !== undefined) return
    warnOnce(
      this.#logger,
      'logins-of-api-clients',
      'A request with an Authorization header and without a session cookie has started a login session. If its client ' +
        "sends these credentials with each request, each request ends another of the user's sessions. On such routes, use " +
        "passport.authenticate('basic', { session: false }).",
    )
  }

  /** Warns about a login that was decided only after its response was sent. */
  noteLateLogin(): void {
    warnOnce(
      this.#logger,
      'login-not-awaited',
      'A login was decided only after its response was sent, so the browser does not have its session. Respond only after ' +
        '"await limiter.login(request, user)", or in the callback of req.logIn().',
    )
  }

  /** Warns about a login that was refused when it was too late to tell the browser. */
  noteLateRefusal(): void {
    warnOnce(
      this.#logger,
      'login-not-awaited',
      'A login was refused after its response had begun, so the browser shows a success. Log users in with ' +
        '"await limiter.login(request, user)" before you respond, or respond without res.write, res.writeHead and pipes.',
    )
  }

  /** Warns if a session seems to name a user although no login was seen, because then nothing is limited. */
  noteNobody(data: HostSessionData, visit: Visit | undefined): void {
    const name = Object.keys(data).find((key) => data[key] && USER_KEY.test(key.replace(/[^a-z]/gi, '').toLowerCase()))
    if (name === undefined || this.#hasNotedNobody || this.#isReaderWrong()) return
    // Logins by Passport are always seen, and a few other sessions may only be waiting for a second factor.
    if (visit?.passportLogin && (data.passport || ++this.#besidePassport < LEAST_BESIDE_PASSPORT)) return
    this.#hasNotedNobody = true
    const kind = typeof data[name]
    const place = kind === 'boolean' ? 'user?.id' : kind === 'object' ? `${name}?.id` : name
    warn(
      this.#logger,
      'no-login-seen',
      `Saved sessions seem to name a user (key "${name}"), but sessmgr has seen no login and can read no user id in them, ` +
        `so nothing is limited. Without Passport, set sessionUser: sessmgr({ sessionUser: (session) => session.${place} }). ` +
        'Or log users in with limiter.login(request, user).',
    )
  }

  /** Warns about a session that another process, with a memory of its own, uses as well. */
  noteOtherProcess(): void {
    warnOnce(
      this.#logger,
      'several-processes',
      'Another process uses a session of this process, but each has its sessmgr store in its own memory, so limits and ' +
        'logouts do not apply across processes. Use a store that all processes share: sqliteStore() from sessmgr/sqlite for one machine, postgresStore() from sessmgr/postgres, ' +
        'or redisStore() from sessmgr/redis.',
    )
  }

  /** Warns if the application's own login keeps the session id that the request came with. */
  noteKeptId(sessionId: string, visit: Visit | undefined): void {
    if (!visit?.hasSent(sessionId)) return
    warnOnce(
      this.#logger,
      'login-keeps-the-session-id',
      'A login kept the session id. An attacker who planted that id is now signed in too (session fixation). Call ' +
        'req.session.regenerate(callback) before you store the user in the session, or use limiter.login(request, user).',
    )
  }

  /** Warns if `limiter.login()` replaced a Passport session: the user is signed out but still occupies a slot. */
  noteLostPassport(): void {
    warnOnce(
      this.#logger,
      'limiterlogin-with-passport',
      'limiter.login() replaced a Passport session, and Passport finds no user in the new one. The user appears signed ' +
        'out but still counts toward the limit. With Passport, call req.logIn(user, callback) instead.',
    )
  }
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
  warnOnce(logger, 'mounted-before-the-session', `Sessions are not checked and not limited: ${cure}`)
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
    'second-limiter',
    'This process has a second limiter, and each counts logins on its own. Create only one: ' +
      'const limiter = (globalThis.sessionLimiter ??= sessmgr(…)).',
  )
}
