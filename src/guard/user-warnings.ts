import { type Logger, WRONG_READER, warn, warnOnce, wasWarned } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { GuardedRequest, HostSessionData } from './host-types.ts'

/**
 * Session keys, lowercase and without other characters, that usually contain a signed-in user. Only whole names match,
 * because sessions of visitors have keys such as `loginError`, `userAgent` or `pendingUserId`.
 */
const USER_KEY =
  /^(is|my|current|active|auth|loggedin|signedin)?(user|uid|account|customer|member|admin|email|log(in|ged|gedin)|signedin|auth(ed|enticated|orized)?)(id|name|email|data|info)?$/

/** Warns once about each problem that keeps sessmgr from reading whose session it is. */
export class UserWarnings {
  readonly #logger: Logger
  #hasNotedNobody = false

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
      `After a login, the session holds ${found}. Sessions from before sessmgr, and sessions whose id your application ` +
        `changes, ${effect}. Set sessionUser: sessmgr({ sessionUser: (session) => … }).`,
    )
  }

  /** Whether a warning has said that `sessionUser` returns something other than an id. */
  #isReaderWrong(): boolean {
    return wasWarned(this.#logger, WRONG_READER)
  }

  /** Warns about a login on a route mounted before sessmgr, or with Passport 0.4. */
  noteLoginPast(request: GuardedRequest | undefined): void {
    if (request?._passport && !request._sessionManager) this.noteOldPassport()
    if (!request || request.sessmgr) return
    warnOnce(
      this.#logger,
      'login-before-sessmgr',
      'A user signed in on a route mounted before sessmgr. Such logins may be counted late and show no address. ' +
        'Mount sessmgr before your login routes.',
    )
  }

  /** Warns if a session seems to name a user although no login was seen, because then nothing is limited. */
  noteNobody(data: HostSessionData, request: GuardedRequest | undefined): void {
    // Passport logins are always seen.
    if (typeof request?.logIn === 'function') return
    const name = Object.keys(data).find((key) => data[key] && USER_KEY.test(key.replace(/[^a-z]/gi, '').toLowerCase()))
    if (name === undefined || this.#hasNotedNobody || this.#isReaderWrong()) return
    this.#hasNotedNobody = true
    warn(
      this.#logger,
      'no-login-seen',
      `Saved sessions seem to name a user (key "${name}"), but sessmgr has seen no login and can read no user id in them, ` +
        'so nothing is limited. Without Passport, set sessionUser: ' +
        'sessmgr({ sessionUser: (session) => session.user?.id }). Or log users in with limiter.login(request, user).',
    )
  }

  /** Warns about Passport before 0.6, which keeps the session id at login, or signs users in without the limit. */
  noteOldPassport(): void {
    warnOnce(
      this.#logger,
      'passport-before-06',
      'Passport kept the session id at login, as versions before 0.6 do. An attacker who planted that id is now signed ' +
        'in too (session fixation). Update Passport: npm install passport@latest.',
    )
  }

  /** Warns about a login by the application itself that keeps the session id the request came with. */
  noteKeptId(sessionId: string, request: GuardedRequest | undefined): void {
    if (!request?.headers?.cookie?.includes(encodeURIComponent(sessionId))) return
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
        'out but still counts towards the limit. With Passport, call req.logIn(user, callback) instead.',
    )
  }
}
