import { beforeEach, describe, expect, it, test } from 'vitest'
import type { HostSessionData } from '../../../src/door/host-types.ts'
import { UserWarnings, warnOfSecondLimiter } from '../../../src/door/warnings.ts'
import type { UserId } from '../../../src/ground/user-id.ts'
import { memoryStore, type SessmgrStore } from '../../../src/index.ts'
import { TestVisit } from '../../support/test-visit.ts'

/** What is logged when sessions with these keys are saved and no login was ever seen. */
function logsOf(...sessions: Record<string, unknown>[]): unknown[] {
  const logs: unknown[] = []
  const warnings = new UserWarnings({ warn: (line) => logs.push(line), error: (line) => logs.push(line) })
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
  expect(logs).toEqual([expect.stringContaining(`Saved sessions seem to name a user (key "${key}"), but`)])
  expect(logs[0]).toContain(`sessionUser: (session) => session.${key} })`)
  expect(logsOf({ [key]: { id: 'al' } })[0]).toContain(`sessionUser: (session) => session.${key}?.id })`)
  expect(logsOf({ [key]: true })[0]).toContain('sessionUser: (session) => session.user?.id })')
  expect(logs[0]).toMatch(
    /can read no user id in them, .* sessionUser: sessmgr\(\{ .* \}\)\. Or log users in with limiter\.login/,
  )
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

test('a session that seems to name a user is no matter under Passport, unless Passport sees no login three times', () => {
  const { warnings, logs } = watched()
  const passport = new TestVisit({ logIn() {} })
  for (let login = 0; login < 5; login++) warnings.noteNobody({ user: 7, passport: { user: 7 } }, passport)
  for (let login = 0; login < 2; login++) warnings.noteNobody({ user: 7 }, passport)
  expect(logs).toEqual([])
  warnings.noteNobody({ user: 7 }, passport)
  expect(logs).toHaveLength(1)
})

/** Warnings, and what they say. */
function watched() {
  const logs: string[] = []
  const warnings = new UserWarnings({ warn: (line) => void logs.push(line), error: () => {} })
  return { warnings, logs }
}

describe('after a login', () => {
  it.each<[string, HostSessionData]>([
    ['names the user who logged in', { user: 7 }],
    ['names them in another type', { user: '7' }],
    ['names nobody yet, without Passport', {}],
  ])('a session that %s is as it should be', (_, data) => {
    const { warnings, logs } = watched()
    warnings.compareUsers(7, data.user as UserId | undefined, data)
    expect(logs).toEqual([])
  })

  it.each<[string, HostSessionData, string, string]>([
    ['somebody else', { user: 8 }, 'a different user id', 'count for the wrong user'],
    ['nobody, with Passport', { passport: {} }, 'no user id that sessmgr can read', 'are not limited'],
  ])('a session that names %s is warned of once', (_, data, found, effect) => {
    const { warnings, logs } = watched()
    for (let time = 0; time < 2; time++) warnings.compareUsers(7, data.user as UserId | undefined, data)
    expect(logs).toEqual([expect.stringContaining(`After a login, the session holds ${found}.`)])
    expect(logs[0]).toContain(`whose id your application changes, ${effect}.`)
    expect(logs[0]).toContain('sessmgr({ sessionUser: (session) => … })')
  })
})

describe('a login on a route before sessmgr', () => {
  it.each<[string, object | undefined, (string | RegExp)[]]>([
    ['is not told of a request that nobody knows', undefined, []],
    ['is none where the request has come by', { sessmgr: {} }, []],
    [
      'is one where it has not',
      {},
      [
        /^A user signed in on a route mounted before sessmgr, or outside its path\..* show no address\. Mount sessmgr before/,
      ],
    ],
  ])('%s', (_, request, lines) => {
    const { warnings, logs } = watched()
    warnings.noteLoginPast(request && new TestVisit(request))
    expect(logs).toEqual(lines.map((line) => expect.stringMatching(line)))
  })
})

test('a login by hand that takes the user out of the sight of Passport is warned of once, with the cure', () => {
  const { warnings, logs } = watched()
  for (let time = 0; time < 2; time++) warnings.noteLostPassport()
  expect(logs).toEqual([expect.stringMatching(/finds no user in the new one.* With Passport, call req\.logIn/)])
})

const local = memoryStore()
const shared: SessmgrStore = { ...memoryStore(), local: false }

/** What is warned of, in order. */
function warnings(run: (logger: { warn(line: string): void; error(): void }) => void): string[] {
  const lines: string[] = []
  run({ warn: (line) => lines.push(line), error() {} })
  return lines
}

describe('a second limiter that counts in memory', () => {
  const other = { ...local }
  beforeEach(() => void Reflect.deleteProperty(globalThis, Symbol.for('sessmgr.first-memory')))

  it('is warned of once, whatever its logger', () => {
    const one = (store: SessmgrStore) => warnings((logger) => warnOfSecondLimiter(store, logger, {}))
    expect(one(local)).toEqual([])
    expect(one(local)).toEqual([])
    expect(one(other)).toEqual([expect.stringContaining('globalThis.sessionLimiter ??= sessmgr(')])
    expect(one({ ...local })).toEqual([])
  })

  it('is nothing to warn of in tests, or where the limiters share a store', () => {
    const lines = warnings((logger) => {
      warnOfSecondLimiter(shared, logger, {})
      warnOfSecondLimiter({ ...shared }, logger, {})
      warnOfSecondLimiter(local, logger, { NODE_ENV: 'test' })
      warnOfSecondLimiter(other, logger, { NODE_ENV: 'test' })
    })
    expect(lines).toEqual([])
  })
})
