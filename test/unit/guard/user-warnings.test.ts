import { expect, test } from 'vitest'
import { UserWarnings } from '../../../src/guard/user-warnings.ts'

/** What is logged when sessions with these keys are saved and no login was ever seen. */
function logsOf(...sessions: Record<string, unknown>[]): unknown[] {
  const logs: unknown[] = []
  const warnings = new UserWarnings(() => undefined, {
    warn: (line) => logs.push(line),
    error: (line) => logs.push(line),
  })
  for (const data of sessions) warnings.noteNobody({ cookie: {}, ...data } as never, undefined)
  return logs
}

test.each([
  'user',
  'userId',
  'user_id',
  'userID',
  'uid',
  'username',
  'currentUser',
  'loggedInUserId',
  'account',
  'customerId',
  'member',
  'admin',
  'email',
  'loggedin',
  'isLoggedIn',
  'logged_in',
  'signedIn',
  'isAuth',
  'authenticated',
])('a session with %s seems to name a user: that is said once, with the key', (key) => {
  const logs = logsOf({ [key]: 'al' }, { [key]: 'bo' }, { user: 'cy' })
  expect(logs).toEqual([expect.stringContaining(`Sessions are saved that seem to name a user (key "${key}")`)])
})

test.each([
  'cart',
  'csrf',
  'flash',
  'returnTo',
  'redirectAfterLogin',
  'loginError',
  'loginAttempts',
  'lastLoginPage',
  'pendingUserId',
  'userAgent',
  'userLocale',
  'authState',
  'oauth',
  'accountType',
  'memberships',
])('a session of a visitor with %s names nobody', (key) => {
  expect(logsOf({ [key]: 'x' })).toEqual([])
})

test.each([undefined, null, false, ''])('a user that is %j is nobody', (user) => {
  expect(logsOf({ user })).toEqual([])
})
