import { type Logger, warnOnce } from '../ground/logger.ts'
import type { HostRequest } from '../guard/host-types.ts'
import { visitOf } from '../guard/request/host-visit.ts'
import { Standing } from '../guard/request/standing.ts'

/**
 * Makes what says once that a part of the service is reached by requests that have not passed the guard.
 *
 * Nobody is signed in there, whatever cookie they have. Not with explicit calls: there a request without a session looks
 * the same.
 *
 * @param part What stands too early, as the application writes it.
 */
export function orderWarning(part: string, logger: Logger): (request: HostRequest) => void {
  return (request) => {
    const { headers, app, isMounted } = request
    const isExpress = typeof app === 'function'
    if (headers.cookie === undefined || !(isExpress || isMounted === true)) return
    if (Standing.of(request)?.passed || visitOf(request)) return
    const problem = `sessmgr does not stand before ${part}, which takes everybody for signed out.`
    const cure = isExpress
      ? 'Put app.use(limiter) before it, and where sessmgr stands under a path, put both under that path.'
      : 'Register fastifySessmgr, or use koaSessmgr, before the routes and for the same paths.'
    warnOnce(logger, `${problem} ${cure}`)
  }
}
