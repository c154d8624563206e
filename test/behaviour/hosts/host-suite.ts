import type { StartHost } from '../../support/host-under-test.ts'
import { describeAnswers } from './answer-suite.ts'
import { describeLogins } from './login-suite.ts'
import { describeSessions } from './session-suite.ts'

/** What holds on every host. */
export function describeHost(startHost: StartHost): void {
  describeLogins(startHost)
  describeSessions(startHost)
  describeAnswers(startHost)
}
