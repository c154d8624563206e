import { createClient } from 'redis'
import { beforeEach, describe, expect, it } from 'vitest'
import { type SessmgrStore, sessmgr, tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { idsOf, login, newSession } from '../../contracts/store/store-case.ts'
import { userKey } from '../../support/redis-rows.ts'
import { useRedis } from '../../support/use-redis.ts'

const KEY = userKey('alice')
const EPOCH = 'sessmgr:epoch'

const db = useRedis()
let store: SessmgrStore
beforeEach(() => {
  store = redisStore({ client: db.client })
})

describe('a damaged count of site-wide logouts', () => {
  const damaged = [
    'abc',
    '',
    ' ',
    'NaN',
    '-1',
    '1.5',
    '1e3',
    '0x1',
    '9'.repeat(40),
    'name 1 abc',
    `name 1 ${'a'.repeat(65)}`,
  ]

  it.each(damaged)('lets nobody pass, and moves nowhere: %j', async (value) => {
    await db.client.set(EPOCH, value)
    for (const call of [() => store.epoch.current(), () => store.epoch.advance()]) {
      await expect(call()).rejects.toMatchObject({ code: 'store_unavailable' })
    }
    expect(await db.client.get(EPOCH)).toBe(value)
  })

  it('names its key, and how to mend it', async () => {
    await db.client.set(EPOCH, 'abc')
    await expect(store.epoch.current()).rejects.toThrow(
      /"sessmgr:epoch" in the sessmgr Redis server is damaged.*whole number.*larger/,
    )
    await db.client.set(EPOCH, '1000000')
    expect(await store.epoch.current()).toEqual({ generation: 1_000_000, keeps: undefined })
    expect((await store.epoch.advance())?.generation).toBeGreaterThan(1_000_000)
  })

  it('admits no login, and lists no session', async () => {
    const limiter = sessmgr({ store })
    await db.client.set(EPOCH, '')
    await expect(limiter.sessions.list('alice')).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  it('of comments, too, is no count', async () => {
    await db.client.set('sessmgr:g:comments', 'x')
    await expect(store.transients.generation('comments')).rejects.toThrow(/"sessmgr:g:comments".*is damaged/)
  })
})

describe('a damaged row of a user', () => {
  const damages: Record<string, string> = {
    'is no text of ours': 'garbage',
    'was cut off': 'name {"s":[["goo',
    'has a session without times': 'name {"s":[["good","x",0,1]]}',
    'has no sessions': 'name {}',
  }

  it.each(Object.entries(damages))('that %s says what to do, and is over when that is done', async (_, value) => {
    await login(store.sessions, 'alice', 'good')
    await login(store.sessions, 'bob', 'other')
    await db.client.set(KEY, value)
    const { sessions } = store
    const calls: Record<string, () => Promise<unknown>> = {
      useOf: () => sessions.useOf('alice', tokenOf('good')),
      read: () => sessions.read('alice'),
      adopt: () => sessions.adopt('alice', newSession('dormant')),
      touch: () => sessions.touch('alice', tokenOf('good'), 1000),
      end: () => sessions.end('alice'),
      endOthers: () => sessions.endOthers('alice', tokenOf('good')),
    }
    for (const [name, call] of Object.entries(calls)) {
      const error: Error = await call().then(
        () => new Error('it was not refused'),
        (thrown) => thrown,
      )
      expect(error, name).toMatchObject({ code: 'store_unavailable' })
      expect(error.message, name).toMatch(/user "alice".*is damaged.*Delete it/)
    }
    // Nobody else is in the way, and nothing is overwritten that could still be mended.
    expect(await idsOf(sessions, 'bob')).toEqual(['other'])
    expect(await db.client.get(KEY)).toBe(value)
    await db.client.del(KEY)
    expect(await idsOf(sessions, 'alice')).toEqual([])
    await login(sessions, 'alice', 'new')
    expect(await idsOf(sessions, 'alice')).toEqual(['new'])
  })

  it('that is empty has no sessions', async () => {
    await login(store.sessions, 'alice', 'a')
    await db.client.set(KEY, '')
    expect(await idsOf(store.sessions, 'alice')).toEqual([])
    await login(store.sessions, 'alice', 'b')
    expect(await idsOf(store.sessions, 'alice')).toEqual(['b'])
  })
})

describe('a token', () => {
  it('that only begins as the one of a session is not of that session', async () => {
    await login(store.sessions, 'alice', 'a')
    const alike = tokenOf('a').slice(0, 16).padEnd(64, '0')
    expect(await store.sessions.useOf('alice', alike)).toBeUndefined()
    const { sessions } = sessmgr({ store })
    expect(await sessions.end('alice', alike)).toBe(false)
    await expect(sessions.endOthers('alice', alike)).rejects.toMatchObject({ code: 'invalid_option' })
    expect(await idsOf(store.sessions, 'alice')).toEqual(['a'])
  })
})

it('a client that was never connected is told to connect', async () => {
  const { sessions } = redisStore({ client: createClient({ url: db.server.url }) })
  const error = await sessions.read('alice').catch((thrown: Error) => thrown)
  expect(error).toMatchObject({
    code: 'store_unavailable',
    cause: { message: expect.stringContaining('await client.connect()') },
    stack: expect.stringContaining('await client.connect()'),
  })
})
