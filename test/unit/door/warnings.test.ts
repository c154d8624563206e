import { beforeEach, describe, expect, it } from 'vitest'
import type { HostSessionData } from '../../../src/door/host-types.ts'
import { warnOfLoginPast, warnOfOtherUser, warnOfSecondLimiter } from '../../../src/door/warnings.ts'
import type { Logger } from '../../../src/ground/logger.ts'
import type { UserId } from '../../../src/ground/user-id.ts'
import { memoryStore, type SessmgrStore } from '../../../src/index.ts'
import { aWarning } from '../../support/a-warning.ts'
import { TestVisit } from '../../support/test-visit.ts'

/** What is warned of, in order. */
function warnings(run: (logger: Logger) => void): string[] {
  const lines: string[] = []
  run({ warn: (line) => lines.push(line), error() {} })
  return lines
}

describe('after a login', () => {
  it.each<[string, HostSessionData]>([
    ['names the user who logged in', { user: 7 }],
    ['names them in another type', { user: '7' }],
    ['names nobody yet, without Passport', {}],
  ])('a session that %s is as it should be', (_, data) => {
    expect(warnings((logger) => warnOfOtherUser(logger, 7, data.user as UserId | undefined, data))).toEqual([])
  })

  it.each<[string, HostSessionData, string, string]>([
    ['somebody else', { user: 8 }, 'a different user id', 'count for the wrong user'],
    ['nobody, with Passport', { passport: {} }, 'no user id that sessmgr can read', 'are not limited'],
  ])('a session that names %s is warned of once', (_, data, found, effect) => {
    const logs = warnings((logger) => {
      for (let time = 0; time < 2; time++) warnOfOtherUser(logger, 7, data.user as UserId | undefined, data)
    })
    expect(logs).toEqual([aWarning('session-names-another-user')])
    expect(logs[0]).toContain(`After a login, the session holds ${found}.`)
    expect(logs[0]).toContain(`whose id your application changes, ${effect}.`)
    expect(logs[0]).toContain('sessmgr({ sessionUser: (session) => … })')
  })
})

describe('a login on a route before sessmgr', () => {
  it.each<[string, object | undefined, unknown[]]>([
    ['is not told of a request that nobody knows', undefined, []],
    ['is none where the request has come by', { sessmgr: {} }, []],
    ['is one where it has not', {}, [aWarning('routes-before-sessmgr', /^A user signed in on a route/)]],
  ])('%s', (_, request, lines) => {
    expect(warnings((logger) => warnOfLoginPast(logger, request && new TestVisit(request)))).toEqual(lines)
  })
})

const local = memoryStore()
const shared: SessmgrStore = { ...memoryStore(), local: false }

describe('a second limiter that counts in memory', () => {
  const other = { ...local }
  beforeEach(() => void Reflect.deleteProperty(globalThis, Symbol.for('sessmgr.first-memory')))

  it('is warned of once, whatever its logger', () => {
    const one = (store: SessmgrStore) => warnings((logger) => warnOfSecondLimiter(store, logger, {}))
    expect(one(local)).toEqual([])
    expect(one(local)).toEqual([])
    expect(one(other)).toEqual([aWarning('several-memory-stores', /globalThis\.sessionLimiter \?\?= sessmgr\(/)])
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
