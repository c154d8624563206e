import { unavailable } from '../../ground/call-deadline.ts'
import { RETRY_SOON, SessmgrError, STATUS } from '../../ground/errors.ts'

/**
 * Marks the errors of session stores. A global symbol, because each entry point may load its own copy of this module.
 */
const OF_STORE = Symbol.for('sessmgr.store-error')

/** The status of an error, for web frameworks. */
interface WebError {
  status?: unknown
  statusCode?: unknown
}

/**
 * Marks an error of the application's session store, and returns it. Frameworks respond with 503 and `Retry-After`
 * unless it has its own status. A value that cannot be extended stays as it is.
 */
export function asStoreError(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !Object.isExtensible(error)) return error
  const { status, statusCode } = error as WebError
  const hasStatus = (status ?? statusCode) !== undefined && (status ?? statusCode) !== null
  const { store_unavailable: away } = STATUS
  // Frameworks send the headers of an error that has a status, so headers not meant for the client are replaced.
  // `statusCode` is not set, because NestJS would then send the error's message, which may contain a session id.
  const own = hasStatus ? {} : { status: away, headers: { ...RETRY_SOON } }
  for (const [name, value] of [...Object.entries(own), [OF_STORE, true] as const]) {
    // Fails only if the store has made the property its own, and then the store's counts.
    Reflect.defineProperty(error, name, { value, configurable: true, writable: true, enumerable: false })
  }
  return error
}

/** Checks whether an error came from the application's session store. */
function isOfSessionStore(error: unknown): boolean {
  return typeof error === 'object' && error !== null && OF_STORE in error
}

/** Checks whether an error came from a store: the application's session store or sessmgr's own. */
export function isStoreError(error: unknown): boolean {
  return isOfSessionStore(error) || (error instanceof SessmgrError && error.code === 'store_unavailable')
}

/**
 * Wraps an error of the application's session store in a SessmgrError, whose message may be shown to clients. Returns
 * anything else unchanged.
 */
export function asUnavailable(error: unknown): unknown {
  return isOfSessionStore(error) ? unavailable('session store', 'could not be used', error) : error
}
