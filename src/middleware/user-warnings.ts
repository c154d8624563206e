import type { Logger } from '../logger.ts'
import type { UserId } from '../user-id.ts'
import type { HostRequest, HostSessionData } from './host-types.ts'

/** Says once what keeps sessmgr from telling whose a session is. */
export class UserWarnings {
  readonly #sessionUser: (data: HostSessionData) => UserId | undefined
  readonly #logger: Logger
  #saidOfUsers = false
  #saidOfLogin = false

  constructor(sessionUser: (data: HostSessionData) => UserId | undefined, logger: Logger) {
    this.#sessionUser = sessionUser
    this.#logger = logger
  }

  /** Warns after a login when sessions name their user otherwise than the login did, or not at all. */
  compareUsers(data: HostSessionData, userId: UserId): void {
    const named = this.#sessionUser(data)
    // Without Passport the application may put the user into the session after the login.
    if (this.#saidOfUsers || (named === undefined ? !data.passport : String(named) === String(userId))) return
    this.#saidOfUsers = true
    const found =
      named === undefined ? 'holds no user id that sessmgr can read' : 'is not the id of the user who logged in'
    const owner = named === undefined ? 'nobody: no limit and no logout reaches them' : 'somebody else'
    this.#logger.warn(
      `What a session says of its user ${found}, so sessions from before sessmgr, and those whose id the application ` +
        `changes, count for ${owner}. Tell sessmgr how to read the id: sessmgr({ sessionUser: (session) => … }).`,
    )
  }

  /** Warns when a request signs somebody in that has not come by sessmgr. Without a request nobody can tell. */
  noteLoginAbove(request: HostRequest | undefined): void {
    if (this.#saidOfLogin || !request || request.sessmgr) return
    this.#saidOfLogin = true
    this.#logger.warn(
      'Somebody signs in by a request that has not come by sessmgr: such a login may be counted late, and lists of ' +
        'sessions do not tell its address. Put sessmgr before the routes that log people in.',
    )
  }
}
