import { describe } from 'vitest'
import type { StartHost } from '../../support/host-under-test.ts'
import { describeAnswers, describeRoutes } from './answer-suite.ts'
import { describeLogins } from './login-suite.ts'
import { describeLives, describeSessions } from './session-suite.ts'

/** What holds on every framework in which Passport signs in. */
export function describeHost(startHost: StartHost): void {
  describeLogins(startHost)
  describe('sessions', () => {
    describeLives(startHost)
    describeSessions(startHost)
  })
  describeRoutes(startHost)
  describeAnswers(startHost)
}

/** What of it holds in an application that calls sessmgr itself, on sessions of its own. */
export function describeCalls(startHost: StartHost): void {
  describeLogins(startHost, [['before', '/login']])
  describeLives(startHost, ['/login'], ['/logout'])
  describeRoutes(startHost)
}
