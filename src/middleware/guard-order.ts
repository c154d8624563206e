import { type Logger, warnOnce } from '../ground/logger.ts'
import type { HostRequest } from '../guard/host-types.ts'
import { visitOf } from '../guard/request/host-visit.ts'
import { Standing } from '../guard/request/standing.ts'

/**
 * Returns a check that warns once when requests reach `part` before the limiter.
 *
 * With explicit calls, it never warns, because requests without a session look the same as requests
 * that have not reached the limiter.
 *
 * @param part The middleware that is mounted too early, as the application writes it.
 */
export function orderWarning(part: string, logger: Logger): (request: HostRequest) => void {
  return (request) => {
    const { headers, app, isMounted } = request
    const isExpress = typeof app === 'function'
    if (headers.cookie === undefined || !(isExpress || isMounted === true)) return
    if (Standing.of(request)?.passed || visitOf(request)) return
    const problem = `sessmgr is not mounted before ${part}, so every user appears signed out there.`
    const cure = isExpress
      ? 'Call app.use(limiter) first. If the limiter is mounted under a path, mount both under that path.'
      : 'Register fastifySessmgr, or use koaSessmgr, before the routes and for the same paths.'
    warnOnce(logger, 'mounted-before-sessmgr', `${problem} ${cure}`)
  }
}
