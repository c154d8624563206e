import type { IncomingMessage, ServerResponse } from 'node:http'
import { SessmgrError } from '../errors.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { SessionManager } from '../limiter/manage-sessions.ts'
import { createSessionLimiter } from '../limiter/session-limiter.ts'
import type { SettingsService } from '../options/session-settings.ts'
import type { HostSessions } from '../sessions/host-sessions.ts'
import { type GuardedStore, guardStore } from './guarded-store.ts'
import { hostLogin } from './host-login.ts'
import type { HostRequest, HostResponse, HostStore, Next } from './host-types.ts'
import { withHttpStatus } from './http-error.ts'
import { loginRefused } from './refuse-login.ts'
import { resolveOptions, type SessmgrOptions } from './resolve-options.ts'
import { sessionGuard } from './session-guard.ts'

/** The middleware, and the service that it carries. */
export interface Sessmgr {
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void
  readonly hooks: Hooks
  readonly sessions: SessionManager
  readonly settings: SettingsService
  /**
   * Logs a user in, for hosts without Passport: gives the request a fresh session that counts against the limit.
   *
   * Whatever the application wants to keep in the session it writes afterwards.
   *
   * @throws SessmgrError `login_limit_reached` with `status` 403 when the limit refuses the login; the session is as it was.
   */
  login(request: IncomingMessage, user: unknown): Promise<void>
  /** Logs the user of a request out, for hosts without Passport: the session ends and its slot is free. */
  logout(request: IncomingMessage): Promise<void>
  /** Waits for asynchronous hook subscribers that are still at work, then closes the store. */
  close(): Promise<void>
}

/**
 * Limits how many login sessions one account may hold.
 *
 * Stands after express-session, and before or after `passport.session()`.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * app.use(session({ store, secret, resave: false, saveUninitialized: false }))
 * app.use(sessmgr({ settings: { maximum: 2, logic: 'logout_oldest' } }))
 * app.use(passport.session())
 */
export function sessmgr(options?: SessmgrOptions): Sessmgr {
  const { store, settings, sessionStore, userIdOf, sessionUser, strategies, deadlineMs, touchEveryMs, logger } =
    resolveOptions(options)
  const guards = new Map<HostStore, GuardedStore>()

  const hostSessions: HostSessions = {
    async exists(sessionId) {
      // Before any session store is known there is nothing that could contradict the registry.
      const found = await Promise.all([...guards.values()].map(({ calls }) => calls.get(sessionId)))
      return found.length === 0 || found.some((data) => data !== undefined)
    },
    async destroy(sessionId) {
      await Promise.all([...guards.values()].map(({ calls }) => calls.destroy(sessionId)))
    },
  }
  const limiter = createSessionLimiter({ store, hostSessions, logger, settings, strategies, deadlineMs })

  function guardOf(hostStore: HostStore): { guarded: GuardedStore; fresh: boolean } {
    const known = guards.get(hostStore)
    if (known) return { guarded: known, fresh: false }
    const guarded = guardStore(hostStore, limiter, { sessionUser, deadlineMs, touchEveryMs })
    guards.set(hostStore, guarded)
    return { guarded, fresh: true }
  }
  if (sessionStore) guardOf(sessionStore)

  const login = async (request: HostRequest, user: unknown, establish: () => Promise<void>) => {
    const userId = userIdOf(user)
    return hostLogin(limiter, guardOf(requireStore(request)), request, userId, establish)
  }
  const middleware = sessionGuard({ of: guardOf, all: () => [...guards.values()] }, login)

  const service: Sessmgr = Object.assign(
    (request: IncomingMessage, response: ServerResponse, next: Next) =>
      middleware(request as HostRequest, response as HostResponse, next),
    {
      hooks: limiter.hooks,
      sessions: limiter.sessions,
      settings: limiter.settings,
      async login(request: IncomingMessage, user: unknown) {
        const host = request as HostRequest
        const establish = async () => {
          await regenerate(host)
        }
        const admission = await login(host, user, establish).catch((error) => {
          throw withHttpStatus(error)
        })
        if (!admission.admitted) throw loginRefused(admission.message)
      },
      logout: (request: IncomingMessage) => regenerate(request as HostRequest),
      close: () => limiter.close(),
    },
  )
  // The first turn of the event loop belongs to the application, which subscribes in it.
  setImmediate(() => void limiter.hooks.doAction('sessmgr_init', service))
  return service
}

function regenerate(request: HostRequest): Promise<void> {
  requireStore(request)
  return new Promise((resolve, reject) => {
    request.session?.regenerate((error) => (error ? reject(error) : resolve()))
  })
}

function requireStore(request: HostRequest): HostStore {
  if (request.sessionStore && request.session) return request.sessionStore
  throw withHttpStatus(
    new SessmgrError(
      'session_middleware_missing',
      'There is no session on this request. Add express-session before the route that logs people in.',
    ),
  )
}
