import type { ApplicationPasswordParts, NotedPasswords } from '../auth/application-passwords.ts'
import { Erasures } from '../auth/erasures.ts'
import { createNonces, type Nonces } from '../auth/nonce.ts'
import { createSignedValues, type SignedValues } from '../auth/signed-value.ts'
import type { SiteSecrets } from '../auth/site-secrets.ts'
import type { Handler } from '../door/host-types.ts'
import { systemClock } from '../ground/clock.ts'
import type { Host } from '../host/host.ts'
import { boundedHost } from '../host/strict-host.ts'
import { createFindSignedIn, type FindSignedIn } from '../host/users.ts'
import {
  lateHandler,
  lateMethods,
  OWN_ROUTES,
  REST_ACTION,
  refuseWithoutHost,
  restPath,
} from '../routes/late-routes.ts'
import type { RouterNotes, RouterParts } from '../routes/router.ts'
import type { Login } from '../sessions/session-record.ts'
import type { ResolvedOptions } from './resolve-options.ts'
import type { Middleware } from './service.ts'

const nobody = () => undefined

/** Replaces the `host` option of an application without users. */
export const WITHOUT_USERS: Host = {
  users: {
    findById: nobody,
    findByEmail: nobody,
    findByLogin: nobody,
    summary: () => ({ id: 0, login: '', display_name: '' }),
  },
  can: () => false,
}

/** How the service identifies the session of a request. */
export interface ReaderParts {
  /** Returns the session of a request and its user. Nonces are created for that session. */
  readerOf(request: object): Login | undefined
  /** Checks whether the session of a request is still live. */
  isLive(reader: Login): Promise<boolean>
}

/** How REST routes, pages and features identify the caller. */
export interface RestService extends ReaderParts {
  /** The `host` option, whose lookups and permission checks have a deadline. */
  readonly host: Host | undefined
  readonly passwords: NotedPasswords
  readonly findSignedIn: FindSignedIn
  readonly nonces: Nonces
  readonly signed: SignedValues
  /** Returns the nonce for the session of a request, or undefined for a guest. */
  nonceOf(request: object): Promise<string | undefined>
  /** Returns the middleware for the routes. Without a host, there are only routes for callers' own sessions. */
  router(load: (parts: Omit<RouterParts, 'routes'>) => Promise<Handler>, notes?: RouterNotes): Middleware
}

/**
 * Creates the parts that sessmgr() and createLazyComments() share.
 *
 * @param note Logs created and revoked application passwords.
 */
export function createRestService(
  options: ResolvedOptions,
  secrets: SiteSecrets,
  readers: ReaderParts,
  note?: ApplicationPasswordParts['note'],
): RestService {
  const { store, nonceHeader, textsFor, logger, deadlineMs } = options
  const host = options.host && boundedHost(options.host, deadlineMs, logger)
  const loadPasswords = async () => {
    const late = await import('../auth/application-passwords.ts')
    const { passwords, transients } = store
    const erasures = new Erasures(store)
    return late.createApplicationPasswords({ store: passwords, transients, erasures, clock: systemClock, note })
  }
  const passwords = lateMethods<NotedPasswords>(loadPasswords, ['create', 'list', 'revoke', 'erase', 'verify'])
  const nonces = createNonces(() => secrets.all(), systemClock)
  const findSignedIn = host ? createFindSignedIn(host.users, logger) : async () => undefined
  return {
    ...readers,
    host,
    passwords,
    findSignedIn,
    nonces,
    signed: createSignedValues(() => secrets.all(), systemClock),
    async nonceOf(request) {
      const reader = readers.readerOf(request)
      return reader && nonces.create({ ...reader, action: REST_ACTION })
    },
    router(load, notes) {
      const callers = { ...readers, host: host ?? WITHOUT_USERS, findSignedIn, passwords, nonces, nonceHeader }
      // Load the code now, before an in-place update can remove its file.
      loadPasswords().catch(() => {})
      const loading = load({ ...callers, ...notes, logger, textsFor })
      const routes = lateHandler(loading, (request) => restPath(request) !== undefined)
      const refuse = refuseWithoutHost(logger, textsFor)
      const router: Handler = (request, response, next) =>
        (host || restPath(request)?.startsWith(OWN_ROUTES) ? routes : refuse)(request, response, next)
      return router as Middleware
    },
  }
}
