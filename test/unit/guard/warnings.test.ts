import cluster from 'node:cluster'
import { MemoryStore } from 'express-session'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import type { UserId } from '../../../src/ground/user-id.ts'
import type { HostSessionData } from '../../../src/guard/host-types.ts'
import {
  UserWarnings,
  warnOfLastingSessions,
  warnOfSecondLimiter,
  warnOfSeveralProcesses,
} from '../../../src/guard/warnings.ts'
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

describe('a store that is the own one of each of several processes', () => {
  test.each([
    { env: { WEB_CONCURRENCY: '2' }, sign: 'WEB_CONCURRENCY is above 1' },
    { env: { WEB_CONCURRENCY: '1' }, sign: undefined },
    { env: {}, sign: undefined },
    { env: { instances: '4', NODE_APP_INSTANCE: '2' }, sign: undefined },
    { env: { pm_id: '0', instances: '1', NODE_APP_INSTANCE: '0' }, sign: undefined },
    { env: { pm_id: '0', instances: '2', NODE_APP_INSTANCE: '0' }, sign: 'PM2 runs several instances' },
    { env: { pm_id: '1', NODE_APP_INSTANCE: '1' }, sign: 'PM2 runs several instances' },
  ])('is warned of by $env: $sign', ({ env, sign }) => {
    const lines = warnings((logger) => warnOfSeveralProcesses(local, logger, env))
    expect(lines).toEqual(sign === undefined ? [] : [expect.stringContaining(`(${sign})`)])
    expect(lines.join()).toMatch(sign === undefined ? /^$/ : /redisStore\(\) from sessmgr\/redis/)
  })

  it('is warned of in a worker', () => {
    const { isWorker } = cluster
    Object.assign(cluster, { isWorker: true })
    onTestFinished(() => void Object.assign(cluster, { isWorker }))
    expect(warnings((logger) => warnOfSeveralProcesses(local, logger, {}))[0]).toContain('(this is a worker of node:')
  })

  it('is nothing to warn of where the processes share it', () => {
    expect(warnings((logger) => warnOfSeveralProcesses(shared, logger, { WEB_CONCURRENCY: '2' }))).toEqual([])
  })
})

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

describe('sessions that outlive what the limit knows of them', () => {
  class FileStore {}
  class LruMemory extends MemoryStore {}
  afterEach(() => void vi.unstubAllEnvs())

  it('are warned of once, in production with the advice against it', () => {
    const development = warnings((logger) => {
      warnOfLastingSessions(new FileStore(), local, logger)
      warnOfLastingSessions(new FileStore(), local, logger)
    })
    expect(development).toEqual([expect.stringContaining('The session store seems to survive a restart')])
    expect(development[0]).toContain('become valid again. Use a store that also survives')
    vi.stubEnv('NODE_ENV', 'production')
    const production = warnings((logger) => warnOfLastingSessions(new FileStore(), local, logger))
    expect(production).toEqual([expect.stringContaining('Do not run this in production')])
  })

  test.each([
    ['the memory store of express-session', new MemoryStore()],
    ['a store made from that', new LruMemory()],
    ['a map', new Map()],
    ['a store around a map, as @fastify/session has it', { store: new Map() }],
  ])('are none in %s', (_, store) => {
    expect(warnings((logger) => warnOfLastingSessions(store, local, logger))).toEqual([])
  })

  it('are none where sessmgr remembers as long, and may be in a store without a prototype', () => {
    expect(warnings((logger) => warnOfLastingSessions(new FileStore(), shared, logger))).toEqual([])
    expect(warnings((logger) => warnOfLastingSessions(Object.create(null), local, logger))).toHaveLength(1)
  })
})
