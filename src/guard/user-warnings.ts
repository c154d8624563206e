import { type Logger, warnOnce } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { GuardedRequest, HostSessionData } from './host-types.ts'

/**
 * Names under which applications keep a signed-in user in a session, in lower-case letters alone. Whole names: visitors have
 * `loginError`, `userAgent` or `pendingUserId` in theirs.
 */
const USER_KEY =
  /^(is|my|current|active|auth|loggedin|signedin)?(user|uid|account|customer|member|admin|email|log(in|ged|gedin)|signedin|auth(ed|enticated|orized)?)(id|name|email|data|info)?$/

/** Says once what keeps sessmgr from telling whose a session is. */
export class UserWarnings {
  readonly #logger: Logger
  #hasNotedNobody = false

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Warns after a login when its session names its user otherwise than the login did, or not at all. */
  compareUsers(userId: UserId, named: UserId | undefined, data: HostSessionData): void {
    // Without Passport the application may put the user into the session after the login.
    if (named === undefined ? !data.passport : String(named) === String(userId)) return
    const found =
      named === undefined ? 'holds no user id that sessmgr can read' : 'is not the id of the user who logged in'
    const owner = named === undefined ? 'nobody: no limit and no logout reaches them' : 'somebody else'
    warnOnce(
      this.#logger,
      `What a session says of its user ${found}, so sessions from before sessmgr, and those whose id the application ` +
        `changes, count for ${owner}. Tell sessmgr how to read the id: sessmgr({ sessionUser: (session) => … }).`,
    )
  }

  /** Warns when a login has not come by sessmgr: on a route above it, or by Passport 0.4. Without a request nobody can tell. */
  noteLoginPast(request: GuardedRequest | undefined): void {
    if (request?._passport && !request._sessionManager) this.noteOldPassport()
    if (!request || request.sessmgr) return
    warnOnce(
      this.#logger,
      'Somebody signs in by a request that has not come by sessmgr: such a login may be counted late, and lists of ' +
        'sessions do not tell its address. Put sessmgr before the routes that log people in.',
    )
  }

  /** Warns when a session names a user, it seems, though no login was ever seen: nothing would be limited. */
  noteNobody(data: HostSessionData, request: GuardedRequest | undefined): void {
    // With Passport every login is seen.
    if (typeof request?.logIn === 'function') return
    const name = Object.keys(data).find((key) => data[key] && USER_KEY.test(key.replace(/[^a-z]/gi, '').toLowerCase()))
    if (name === undefined || this.#hasNotedNobody) return
    this.#hasNotedNobody = true
    this.#logger.warn(
      `Sessions are saved that seem to name a user (key "${name}"), but sessmgr has seen no login and can read no user id ` +
        'in them, so nothing is limited. Without Passport, let sessionUser return the id of the signed-in user: ' +
        'sessmgr({ sessionUser: (session) => session.user?.id }). Or log users in by limiter.login(request, user).',
    )
  }

  /** Warns of a Passport that keeps the session id at login, or that signs in past the limit, as before 0.6. */
  noteOldPassport(): void {
    warnOnce(
      this.#logger,
      'Passport kept the session id at a login, so whoever planted that id before is signed in too (session fixation). ' +
        'Versions before 0.6 do that. Update it: npm install passport@latest.',
    )
  }

  /** Warns when a login by hand has taken a user out of Passport's sight, who is then signed out and holds a slot. */
  noteLostPassport(): void {
    warnOnce(
      this.#logger,
      'limiter.login() has replaced a session of Passport by one that Passport finds no user in, so this user is signed ' +
        'out for the application and holds a slot all the same. With Passport call req.logIn(user, callback) instead.',
    )
  }
}
