import {
  type AccountOptions,
  type ChoiceOptions,
  type Host,
  type Middleware,
  type Sessmgr,
  type SessmgrOptions,
  sessmgr,
} from '../../src/index.ts'
import type { Browser } from './browser.ts'
import type { Gates } from './gates.ts'
import type { JsonSessions } from './json-sessions.ts'
import type { FiredAction } from './record-actions.ts'
import { findUser, findUserById } from './users.ts'

/** How an application is set up, in any framework. */
export interface HostSetup {
  readonly sessmgr?: SessmgrOptions
  /** Whether sessmgr is mounted before or after Passport. */
  readonly order?: 'before' | 'after'
  /** Whether to leave out the limit, as before sessmgr was added. */
  readonly unlimited?: boolean
  /** Options of the passport.authenticate call. */
  readonly authenticate?: object
  readonly sessions?: JsonSessions
  /** A store of the framework's own kind, instead of the one on `sessions`. */
  readonly store?: unknown
  /** Options of the account page. */
  readonly account?: AccountOptions | undefined
  /** Options of the choice page, which is mounted at its `url` if this is given. */
  readonly choice?: ChoiceOptions | undefined
  /** Creates a middleware of boundSessions(), which is mounted after the limiter. */
  readonly bound?: ((limiter: Sessmgr) => Middleware) | undefined
  /** Further options of the host's sessions. */
  readonly session?: object
}

/**
 * An application with these routes: `/` and `/login` for all, `/me` for users, `/state`, `/cart`, `/messages`, `/nonce`,
 * `POST /login` by passport.authenticate, `/callback-login` by its
 * custom callback, `/own-login` by the application's own call, `/direct-login` without Passport,
 * `/logout`, `/direct-logout`, `/destroy`, `/rotate`, which exchanges the session's id, `/hold/<gate>`, which waits, the
 * REST routes below `/api`, the admin screen at `/admin`, the account page at `/account/sessions`, and perhaps the choice page
 * at `/login/choose`. `?gate=<name>` keeps the answer to a login waiting; a
 * request with `?arrival=<name>` arrives at that gate, and does not wait there, once its session is loaded and before its
 * body is read.
 */
export interface HostUnderTest {
  readonly origin: string
  readonly limiter: Sessmgr
  readonly gates: Gates
  readonly sessions: JsonSessions
  /** Errors that reached the framework's error handling. */
  readonly errors: unknown[]
  /** Every action that fired, in order. */
  readonly actions: FiredAction[]
  browser(): Browser
  /** Returns the raw id in a browser's session cookie. */
  sessionIdOf(browser: Browser): string | undefined
}

/** Starts an application in one framework until the test has finished. */
export type StartHost = (setup: HostSetup) => Promise<HostUnderTest>

export const FORTNIGHT = 14 * 24 * 60 * 60_000

/** The users of the tests. Alice has every capability. */
export const users: Host<Express.User> = {
  users: {
    findById: (id) => findUserById(Number(id)),
    findByEmail: () => undefined,
    findByLogin: findUser,
    summary: ({ id = 0, login }) => ({ id, login, display_name: login }),
  },
  can: ({ login }) => login === 'alice',
}

/** Creates the service of an application under test. */
export function createLimiter(options: SessmgrOptions = {}): Sessmgr {
  return sessmgr({ host: users, logger: { warn() {}, error() {} }, ...options })
}
