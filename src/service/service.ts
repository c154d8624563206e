import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApplicationPasswords } from '../auth/application-passwords.ts'
import type { Addons } from '../features/addons/addons.ts'
import type { AdminOptions } from '../features/admin/resolve-admin-options.ts'
import type { LazyComments } from '../features/comments/lazy-comments.ts'
import type { RequestLike } from '../guard/request/host-visit.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { Host } from '../host/host.ts'
import type { SessionManager } from '../limiter/manage-sessions.ts'
import type { OptionRegistry } from '../options/option-registry.ts'
import type { SettingsService } from '../options/session-settings.ts'
import type { LogicModes } from '../strategies/logic-catalogue.ts'

/** A middleware for Express and its relatives. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void

/**
 * The middleware, and the service that it carries.
 *
 * What its members reject with goes to `next` as it is: a SessmgrError has the `status` of its answer, and with 503 the
 * header `Retry-After` in `headers`.
 */
export interface Sessmgr extends Middleware {
  /** Carries the actions and filters of this service, to subscribe to. */
  readonly hooks: Hooks
  /** Lists and ends login sessions, of one user or of all. */
  readonly sessions: SessionManager
  /** Reads and changes the settings of the limit. */
  readonly settings: SettingsService
  /** Holds the named options of the site, to which add-ons add theirs. */
  readonly options: OptionRegistry
  /** Finds the mode for a stored value of `logic`, and what people read of each. */
  readonly modes: LogicModes
  /** Creates, lists, revokes and checks the passwords that scripts use on the REST routes. */
  readonly passwords: ApplicationPasswords
  /** The lazy comments; undefined unless the host has posts and a theme. */
  readonly comments: LazyComments | undefined
  /** The add-ons and their licences. */
  readonly addons: Addons
  /** What the application has told of its users, if it has. */
  readonly host: Host | undefined
  /**
   * Makes the middleware of the REST routes, to mount below a path: `app.use('/api', limiter.router())`.
   *
   * It stands after sessmgr itself, and best before the application's body parsers.
   */
  router(): Middleware
  /**
   * Makes the middleware of the admin screen, to mount at a path: `app.use('/admin', limiter.admin())`.
   *
   * It stands after sessmgr itself and needs the REST routes. Only users with `manage_options` see it.
   *
   * @throws SessmgrError `invalid_option` for a bad option, without `host`, and in a bundle without the screen's files.
   */
  admin(options?: AdminOptions): Middleware
  /**
   * Puts an add-on's script, or style sheet, on the admin screen: a path, or an http or https address.
   *
   * Scripts run as modules after the screen's own, in the order in which they came.
   *
   * @throws SessmgrError `invalid_option` for anything else.
   */
  enqueueAdmin(url: string): void
  /**
   * Makes the nonce that a page of this request's session sends along with its REST calls.
   *
   * Undefined when nobody is signed in. It is good for 12 to 24 hours.
   *
   * @throws SessmgrError `store_unavailable`, unless the option `secret` is given; `invalid_option` without a request.
   */
  nonce(request: RequestLike): Promise<string | undefined>
  /**
   * Logs a user in, for hosts without Passport: gives the request a fresh session that counts against the limit.
   *
   * Whatever the application wants to keep in the session it writes afterwards.
   *
   * @throws SessmgrError `login_limit_reached` when the limit refuses the login; `session_ended` when the request came with
   * a session of this user that has been ended since; `login_conflict`, `store_unavailable`, `hook_failed`,
   * `hook_timeout`, `user_id_missing`, `session_middleware_missing`, `invalid_option` without a request. The session is
   * then as it was.
   */
  login(request: RequestLike, user: unknown): Promise<void>
  /**
   * Logs the user of a request out, for hosts without Passport: the session ends and its slot is free.
   *
   * @throws SessmgrError `store_unavailable`; then the session goes on. `session_middleware_missing`, and
   * `invalid_option` without a request.
   */
  logout(request: RequestLike): Promise<void>
  /**
   * Removes every option and key of sessmgr from its store. The sessions of the application go on, and nobody is signed out.
   *
   * @throws SessmgrError `invalid_option` when the client of the store cannot list keys; `store_unavailable`, and some
   * keys may be left then.
   */
  uninstall(): Promise<void>
  /** Waits for asynchronous hook subscribers that are still at work, then closes the store. */
  close(): Promise<void>
}
