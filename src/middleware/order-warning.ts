import type { Logger } from '../logger.ts'
import type { HostRequest } from './host-types.ts'
import { hostRequestOf } from './host-visit.ts'
import { passedGuard } from './passed-guard.ts'

/**
 * Makes what says once that a part of the service is reached by requests that have not passed the guard.
 *
 * Nobody is signed in there, whatever cookie he has. Under Express alone: in other hosts no request passes the guard.
 *
 * @param part What stands too early, as the application writes it.
 */
export function orderWarning(part: string, logger: Logger): (request: HostRequest) => void {
  let said = false
  return (request) => {
    const { headers, app } = request
    if (said || headers.cookie === undefined || typeof app !== 'function') return
    if (passedGuard.has(request) || hostRequestOf(request) !== request) return
    said = true
    logger.warn(
      `sessmgr does not stand before ${part}, which takes everybody for signed out. Put app.use(limiter) before it, and ` +
        'where sessmgr stands under a path, put both under that path.',
    )
  }
}
