import { createClient } from 'redis'
import { beforeEach, describe, expect, it } from 'vitest'
import { type SessmgrStore, sessmgr, tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { fieldName } from '../../../src/stores/redis/registry/session-codec.ts'
import { idsOf, login, newSession } from '../../contracts/store/store-case.ts'
import { useRedis } from '../../support/use-redis.ts'

const KEY = 'sessmgr:{alice}:s'
const EPOCH = 'sessmgr:epoch'

const db = useRedis()
let store: SessmgrStore
beforeEach(() => {
  store = redisStore({ client: db.client })
})

describe('a damaged count of site-wide logouts', () => {
  const damaged = ['abc', '', ' ', 'NaN', '-1', '1.5', '1e3', '0x1', '9'.repeat(40)]

  it.each(damaged)('lets nobody pass, and moves nowhere: %j', async (value) => {
    await db.client.set(EPOCH, value)
    for (const call of [() => store.epoch.current(), () => store.epoch.advance(), () => store.epoch.advanceFrom(0)]) {
      await expect(call()).rejects.toMatchObject({ code: 'store_unavailable' })
    }
    expect(await db.client.get(EPOCH)).toBe(value)
  })

  it('names its key, and how to mend it', async () => {
    await db.client.set(EPOCH, 'abc')
    await expect(store.epoch.current()).rejects.toThrow(/"sessmgr:epoch" is damaged.*whole number.*larger/)
    await db.client.set(EPOCH, '1000000')
    expect(await store.epoch.advance()).toMatchObject({ generation: 1_000_001 })
  })

  it('admits no login, and lists no session', async () => {
    const limiter = sessmgr({ store })
    await db.client.set(EPOCH, '')
    await expect(limiter.sessions.list('alice')).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  it('of comments, too, is no count', async () => {
    await db.client.set('sessmgr:generation:comments', 'x')
    await expect(store.transients.generation('comments')).rejects.toThrow(/"sessmgr:generation:comments" is damaged/)
  })
})

describe('what is damaged in the sessions of a user', () => {
  const damages: Record<string, () => Promise<unknown>> = {
    'a session': () => db.client.hSet(KEY, fieldName(tokenOf('hurt')), 'garbage'),
    'a session that is empty': () => db.client.hSet(KEY, fieldName(tokenOf('hurt')), ''),
    'a generation': () => db.client.hSet(KEY, fieldName(tokenOf('hurt')), 'fffffffffff,0,fff,xshurt'),
  }

  for (const [what, damage] of Object.entries(damages)) {
    it(`is over, and mended by the next login or the end of all: ${what}`, async () => {
      for (const mend of [
        async () => void (await login(store.sessions, 'alice', 'new')),
        async () => void (await store.sessions.end('alice')),
        async () => void (await store.sessions.endOthers('alice', tokenOf('good'))),
      ]) {
        await db.client.del(KEY)
        await login(store.sessions, 'alice', 'hurt')
        await login(store.sessions, 'alice', 'good')
        await damage()
        expect(await store.sessions.useOf('alice', tokenOf('hurt'))).toBeUndefined()
        expect((await store.sessions.useOf('alice', tokenOf('good')))?.generation).toBe(0)
        expect(await store.sessions.touch('alice', tokenOf('hurt'), 1000)).toBe(false)
        expect(await store.sessions.restamp('alice', tokenOf('hurt'), 1)).toBe(false)
        expect(await idsOf(store.sessions, 'alice')).toEqual(['good'])
        await mend()
        expect(await db.client.hExists(KEY, fieldName(tokenOf('hurt')))).toBe(0)
      }
    })
  }

  it.each(['v', 'x', `~${fieldName(tokenOf('gone'))}`])('does not keep anybody from anything: %s', async (field) => {
    await login(store.sessions, 'alice', 'a')
    await db.client.hSet(KEY, field, 'zzz')
    await login(store.sessions, 'alice', 'b')
    expect(await store.sessions.restamp('alice', tokenOf('b'), 1)).toBe(true)
    expect(await idsOf(store.sessions, 'alice')).toEqual(['a', 'b'])
    expect(await store.sessions.end('alice')).toHaveLength(2)
    expect(await store.sessions.adopt('alice', newSession('dormant'))).toBeUndefined()
    await login(store.sessions, 'alice', 'c')
    expect(await idsOf(store.sessions, 'alice')).toEqual(['c'])
  })

  it('is not another session whose token only begins alike', async () => {
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
