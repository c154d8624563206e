import { errorBody } from '../ground/answer-body.ts'
import { type Logger, warn } from '../ground/logger.ts'
import type { HostRequest, HostResponse, Next } from '../guard/host-types.ts'
import type { TextsFor } from '../texts/texts-for.ts'
import { restPath } from './rest-route.ts'

/** Returns the middleware that replaces the router if there is no `host`. It refuses every call. */
export function refuseWithoutHost(logger: Logger, textsFor: TextsFor) {
  let said = false
  return function sessmgrRouter(request: HostRequest, response: HostResponse, next: Next): void {
    if (restPath(request) === undefined) return next()
    if (!said) {
      warn(
        logger,
        'rest-routes-without-host',
        'The admin routes refuse every call because sessmgr has no host. ' +
          'Set it: sessmgr({ host: { users: { findById, findByEmail, findByLogin, summary }, can } }).',
      )
      said = true
    }
    const message = textsFor(request).say('rest_not_set_up')
    response.statusCode = 403
    response.setHeader('Content-Type', 'application/json; charset=utf-8')
    response.setHeader('Cache-Control', 'no-store')
    response.end(JSON.stringify(errorBody('rest_forbidden', message, 403)))
  }
}
