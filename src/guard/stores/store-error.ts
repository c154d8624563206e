import { unavailable } from '../../ground/call-deadline.ts'
import { hideSessionId, RETRY_SOON, SessmgrError, STATUS } from '../../ground/errors.ts'

/** Marks the errors of session stores. A global symbol, because each entry point may load its own copy. */
const OF_STORE = Symbol.for('sessmgr.store-error')

/** The status of an error, for web frameworks. */
interface WebError {
  status?: unknown
  statusCode?: unknown
}

/**
 * Prepares an error of the application's session store for the application: the same object, which is answered with 503
 * and `Retry-After` unless it has a status of its own. Anything that cannot be extended is wrapped.
 */
export function asStoreError(error: unknown, sessionId: string): object {
  if (typeof error !== 'object' || error === null || !Object.isExtensible(error)) return wrapped(error, sessionId)
  const { status, statusCode } = error as WebError
  const hasStatus = (status ?? statusCode) !== undefined && (status ?? statusCode) !== null
  const { store_unavailable: away } = STATUS
  // Frameworks send the headers of an error with a status. Headers that were not meant for the client are replaced.
  // With a `statusCode`, NestJS would send the error's message, which may contain a session id.
  const own = hasStatus ? {} : { status: away, headers: { ...RETRY_SOON } }
  try {
    for (const [name, value] of Object.entries(own)) define(error, name, value)
    define(error, OF_STORE, true)
    return error
  } catch {
    return wrapped(error, sessionId)
  }
}

/** Checks for an error that the application's session store returned, even if it had to be wrapped. */
export function isOfSessionStore(error: unknown): boolean {
  return typeof error === 'object' && error !== null && OF_STORE in error
}

/** Checks whether a store failed, be it the application's session store or sessmgr's own. */
export function isStoreError(error: unknown): boolean {
  return isOfSessionStore(error) || (error instanceof SessmgrError && error.code === 'store_unavailable')
}

/** Returns the same failure as an error of this package, for responses that show its message. */
export function asUnavailable(error: unknown): unknown {
  return isStoreError(error) && !(error instanceof SessmgrError) ? wrapped(error, '') : error
}

function wrapped(cause: unknown, sessionId: string): SessmgrError {
  const error = unavailable('session store', 'could not be used', cause)
  error.stack = hideSessionId(String(error.stack), sessionId)
  define(error, OF_STORE, true)
  return error
}

/** Defines a property that logs do not show, as the error should look the way its store created it. */
function define(error: object, name: PropertyKey, value: unknown): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true, enumerable: false })
}
