import { SessmgrError } from '../../ground/errors.ts'
import { type Logger, warnOnce } from '../../ground/logger.ts'
import { Standing } from './standing.ts'

/** Checks whether a request got its session only after it had passed sessmgr. */
function cameTooEarly(request: { readonly session?: unknown }): boolean {
  return Boolean(Standing.of(request)?.isTooEarly && request.session)
}

const CURE =
  'sessmgr is mounted before the session middleware. Move app.use(limiter), or app.use(koaSessmgr(limiter, app)), after ' +
  'app.use(session(…))'

/**
 * Warns once at the end of a response if its request shows that sessmgr is mounted before the session middleware.
 * Returns true if it does.
 */
export function warnIfTooEarly(request: { readonly session?: unknown }, logger: Logger): boolean {
  if (!cameTooEarly(request)) return false
  const cure = `${CURE}, and set the option "sessionStore" to your session store.`
  warnOnce(logger, 'mounted-before-the-session', `Sessions are not checked and not limited: ${cure}`)
  return true
}

/**
 * Refuses a login that would not be limited.
 *
 * @throws SessmgrError `session_middleware_missing`.
 */
export function refuseTooEarly(request: { readonly session?: unknown }): void {
  if (!cameTooEarly(request)) return
  throw new SessmgrError('session_middleware_missing', `This login cannot be limited: ${CURE}.`)
}
