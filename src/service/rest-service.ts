import { type ApplicationPasswords, createApplicationPasswords } from '../auth/application-passwords.ts'
import { createNonces } from '../auth/nonce.ts'
import type { SiteSecrets } from '../auth/site-secrets.ts'
import { systemClock } from '../ground/clock.ts'
import type { Handler } from '../guard/host-types.ts'
import type { RequestLike } from '../guard/request/host-visit.ts'
import { createFindSignedIn, type FindSignedIn } from '../host/signed-in-user.ts'
import { REST_ACTION, type Reader } from '../routes/caller.ts'
import { lateHandler } from '../routes/late-handler.ts'
import { restPath } from '../routes/rest-route.ts'
import type { RouterNotes, RouterParts } from '../routes/router.ts'
import { refuseWithoutHost } from '../routes/without-host.ts'
import type { ResolvedOptions } from './resolve-options.ts'
import type { Middleware } from './service.ts'

/** How the service knows the session of a request. */
export interface ReaderParts {
  /** Tells whose session a request carries; nonces are made for that session. */
  readerOf(request: RequestLike): Reader | undefined
  /** Tells whether the session that a request came with is still live. */
  isLive(reader: Reader): Promise<boolean>
}

/** What the REST routes, the pages and the features need to know who calls. */
export interface RestService extends ReaderParts {
  readonly passwords: ApplicationPasswords
  readonly findSignedIn: FindSignedIn
  /** Makes the nonce of the reader of a request; undefined for a guest. */
  nonceOf(request: RequestLike): Promise<string | undefined>
  /** Makes the middleware of the routes. Without a host it refuses every call. */
  router(load: (parts: Omit<RouterParts, 'routes'>) => Promise<Handler>, notes?: RouterNotes): Middleware
}

/** Creates what sessmgr() and createLazyComments() share. */
export function createRestService(options: ResolvedOptions, secrets: SiteSecrets, readers: ReaderParts): RestService {
  const { host, store, nonceHeader, textsFor, logger } = options
  const passwords = createApplicationPasswords(store.passwords, systemClock)
  const nonces = createNonces(() => secrets.all(), systemClock)
  const findSignedIn = host ? createFindSignedIn(host.users, logger) : async () => undefined
  return {
    ...readers,
    passwords,
    findSignedIn,
    async nonceOf(request) {
      const reader = readers.readerOf(request)
      return reader && nonces.create({ ...reader, action: REST_ACTION })
    },
    router(load, notes) {
      if (!host) return refuseWithoutHost(logger, textsFor) as Middleware
      const callers = { ...readers, host, findSignedIn, passwords, nonces, nonceHeader }
      const loading = load({ ...callers, ...notes, logger, textsFor })
      return lateHandler(loading, (request) => restPath(request) !== undefined) as Middleware
    },
  }
}
