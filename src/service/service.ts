import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApplicationPasswords } from '../auth/application-passwords.ts'
import type { SignedOutBody, SignedOutNotice } from '../door/notice/notice.ts'
import type { RequestLike, ResponseLike } from '../door/request/visit.ts'
import type { Addons } from '../features/addons/addons.ts'
import type { AdminOptions } from '../features/admin/resolve-admin-options.ts'
import type { LazyComments } from '../features/comments/lazy-comments.ts'
import type { AccountOptions, ChoiceOptions } from '../features/pages/page-options.ts'
import type { AccountView } from '../features/pages/page-views.ts'
import type { UserId } from '../ground/user-id.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { SessionLifeOptions } from '../hooks/session-life.ts'
import type { Host } from '../host/host.ts'
import type { ExplainOptions, LimitExplanation } from '../limiter/decision/explain-login.ts'
import type { ErasedUser } from '../limiter/ending/erase-user.ts'
import type { SessionManager } from '../limiter/manage-sessions.ts'
import type { OptionRegistry } from '../options/option-registry.ts'
import type { SettingsService } from '../options/session-settings.ts'
import type { EndedByWhom } from '../sessions/session-end.ts'
import type { LogicModes } from '../strategies/logic-catalogue.ts'

/** A middleware for Express and compatible frameworks. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void

/**
 * The middleware, with the methods that control it.
 *
 * Pass rejections to `next`: a SessmgrError has a `status` and, if that is 503, a `Retry-After` header in `headers`.
 */
export interface Sessmgr extends Middleware {
  /** Subscribes to actions and filters. */
  readonly hooks: Hooks
  /** Lists and ends login sessions, of one user or of all. */
  readonly sessions: SessionManager
  /** Reads and changes the settings of the limit. */
  readonly settings: SettingsService
  /** Holds the site's named options, including those of add-ons. */
  readonly options: OptionRegistry
  /** Finds the mode for a value of `logic`, and its display texts. */
  readonly modes: LogicModes
  /**
   * Explains how the limit applies to a user, and what it would do with their next login. Changes nothing, but runs
   * your filters and `labelOf`.
   *
   * @throws SessmgrError `user_id_missing`; `invalid_option` for an invalid option; `store_unavailable`, `hook_failed`,
   * `hook_timeout`.
   */
  explain(userId: UserId, options?: ExplainOptions): Promise<LimitExplanation>
  /**
   * Returns how many milliseconds the session of a login may last: 14 days with `remember`, otherwise 2 days, unless
   * the `auth_cookie_expiration` filter changes that.
   *
   * Set it in your login route: `req.session.cookie.maxAge = await limiter.sessionLife(req.user, { remember: true })`.
   *
   * @param user The user who signs in, or their id.
   * @throws SessmgrError `hook_failed` if the filter does not return a number of seconds; `hook_timeout`,
   * `user_id_missing`. `invalid_option` for an invalid option.
   */
  sessionLife(user: unknown, options?: SessionLifeOptions): Promise<number>
  /** Creates, lists, revokes and checks passwords that scripts use on the REST routes. */
  readonly passwords: ApplicationPasswords
  /** The lazy comments. Undefined unless `host` has posts and a theme. */
  readonly comments: LazyComments | undefined
  /** The add-ons and their licenses. */
  readonly addons: Addons
  /** The `host` option, if it was given. */
  readonly host: Host | undefined
  /**
   * Returns the middleware for the REST routes. Mount it under a path: `app.use('/api', limiter.router())`.
   *
   * Mount it after sessmgr itself, and preferably before body parsers.
   */
  router(): Middleware
  /**
   * Returns the middleware for the admin screen. Mount it at a path: `app.use('/admin', limiter.admin())`.
   *
   * Mount it after sessmgr itself. It needs the REST routes, and only users with `manage_options` see it.
   *
   * @throws SessmgrError `invalid_option` for an invalid option, if `host` is not set, or in a bundle without the files
   * of the screen.
   */
  admin(options?: AdminOptions): Middleware
  /**
   * Returns the middleware for the page where users see and end their own sessions. Mount it at a path:
   * `app.use('/account/sessions', limiter.account())`.
   *
   * Mount it after sessmgr itself. It needs neither scripts nor `host`. The REST routes for users' own sessions apply
   * the `stepUp` and `show` options of the last account() call.
   *
   * @throws SessmgrError `invalid_option` for an invalid option.
   */
  account(options?: AccountOptions): Middleware
  /**
   * Returns the middleware for the page where users at the limit choose which sessions to end, in `ask` mode. Mount it
   * at its `url`: `app.use('/login/choose', limiter.choice())`.
   *
   * Mount it after sessmgr itself and, if there is one, after `passport.session()`. It needs no scripts. Logins use the
   * options of the last choice() call.
   *
   * @throws SessmgrError `invalid_option` if an option is invalid, or if neither `host` nor `complete` is set.
   */
  choice(options?: ChoiceOptions): Middleware
  /**
   * Returns what the account page shows, for your own templates. Resolves to undefined if no user is signed in.
   *
   * Forms in the view are sent to the account page, whose `path` option must be set.
   *
   * @param response If passed, the view includes the result of the last form, which is shown only once.
   * @throws SessmgrError `store_unavailable`; `invalid_option` if the request or the `path` option is missing.
   *
   * @example
   * ```ts
   * res.render('devices', { view: await limiter.accountView(req, res) })
   * ```
   */
  accountView(request: RequestLike, response?: ResponseLike): Promise<AccountView | undefined>
  /**
   * Remembers for ten minutes that the user of a request has proved their identity, for example with a passkey. If the
   * account page has the `stepUp` option, their session may then end other sessions.
   *
   * @throws SessmgrError `session_ended` if no user is signed in; `store_unavailable`; `invalid_option` if the request
   * is missing.
   *
   * @example
   * ```ts
   * await limiter.reauthenticated(req)
   * ```
   */
  reauthenticated(request: RequestLike): Promise<void>
  /**
   * Adds a script or style sheet of an add-on to the admin screen: a path, or an http or https URL.
   *
   * Scripts run as modules after those of the screen, in the order in which they were added.
   *
   * @throws SessmgrError `invalid_option` for anything else.
   *
   * @example
   * ```ts
   * limiter.enqueueAdmin('/my-addon/panel.js')
   * ```
   */
  enqueueAdmin(url: string): void
  /**
   * Returns the nonce that a page of this session sends with its REST calls. Resolves to undefined if no user is signed
   * in.
   *
   * It is valid for 12 to 24 hours.
   *
   * @throws SessmgrError `store_unavailable`, unless the `secret` option is set; `invalid_option` if the request is
   * missing.
   *
   * @example
   * ```ts
   * res.render('page', { nonce: await limiter.nonce(req) })
   * ```
   */
  nonce(request: RequestLike): Promise<string | undefined>
  /**
   * Logs a user in without Passport, with a new session that counts toward the limit.
   *
   * Write your own session data afterwards.
   *
   * @throws SessmgrError `login_limit_reached` if the limit refuses the login. `login_choice_required` if the user has
   * to choose which sessions end: redirect to `error.choice.url`. `session_ended` if the request came with a session of
   * this user that has ended since. `login_conflict`, `store_unavailable`, `hook_failed`, `hook_timeout`,
   * `user_id_missing`, `session_middleware_missing`. `invalid_option` if the request is missing. A failed login leaves
   * the session unchanged.
   *
   * @example
   * ```ts
   * await limiter.login(req, user)
   * req.session.userId = user.id
   * ```
   */
  login(request: RequestLike, user: unknown): Promise<void>
  /**
   * Logs out the user of a request without Passport: ends the session and frees its slot.
   *
   * @throws SessmgrError `store_unavailable`, and the session continues; `session_middleware_missing`; `invalid_option`
   * if the request is missing.
   *
   * @example
   * ```ts
   * app.post('/logout', (req, res, next) => limiter.logout(req).then(() => res.redirect('/'), next))
   * ```
   */
  logout(request: RequestLike): Promise<void>
  /**
   * Removes the cookie of the `device` option from the browser that receives this response. Call it before the response
   * is sent.
   *
   * @throws SessmgrError `invalid_option` if the response is missing.
   *
   * @example
   * ```ts
   * await limiter.forgetDevice(res)
   * ```
   */
  forgetDevice(response: ResponseLike): Promise<void>
  /**
   * Returns the notice for a user who was signed out, for ten minutes from their first page afterwards, or until the
   * next login.
   *
   * Scripts, images and redirects do not count as pages. Resolves to undefined if there is nothing to show. Call it
   * before the headers are sent, for example in a middleware before your pages.
   *
   * @throws SessmgrError `invalid_option` if the request or the response is missing.
   *
   * @example
   * ```ts
   * res.locals.notice = await limiter.notice(req, res)
   * ```
   */
  notice(request: RequestLike, response: ResponseLike): Promise<SignedOutNotice | undefined>
  /**
   * Returns the JSON body for a 401 response. Resolves to undefined unless the request came with a session that has
   * ended.
   *
   * @throws SessmgrError `invalid_option` if the request is missing.
   *
   * @example
   * ```ts
   * res.status(401).json((await limiter.signedOut(req)) ?? { code: 'not_signed_in' })
   * ```
   */
  signedOut(request: RequestLike): Promise<SignedOutBody | undefined>
  /**
   * Ends all sessions of a user, and removes the user's data. Delete the account first, so that nobody can sign in
   * again.
   *
   * This covers session records, pending logins, application passwords, devices, the index of people and the activity
   * log.
   *
   * Resolves when the store, this process and an audit sink with `forget` no longer identify the user. Other processes
   * discard what they have not written yet. If the same id signs up later, it is a new user.
   *
   * @param whom On whose behalf, as for `sessions.endAll`.
   * @throws SessmgrError `user_id_missing`; `invalid_option` for an invalid `whom`; `store_unavailable`, and some data
   * may remain: call it again.
   *
   * @example
   * ```ts
   * const { sessions, passwords, events } = await limiter.eraseUser(user.id)
   * ```
   */
  eraseUser(userId: UserId, whom?: EndedByWhom): Promise<ErasedUser>
  /**
   * Removes all of sessmgr's options and keys from its store. Users stay signed in.
   *
   * @throws SessmgrError `invalid_option` if the client of the store cannot list keys; `store_unavailable`, and some
   * keys may remain.
   */
  uninstall(): Promise<void>
  /**
   * Waits for asynchronous hook subscribers, then closes the store.
   *
   * @example
   * ```ts
   * server.close(() => limiter.close())
   * ```
   */
  close(): Promise<void>
}
