import { createClient } from 'redis'
import { expect, it } from 'vitest'
import { sessmgr, tokenOf } from '../../../../src/index.ts'
import { redisStore } from '../../../../src/redis.ts'
import { idsOf, login, newSession } from '../../../contracts/store/store-case.ts'
import { userKey } from '../../../support/redis-rows.ts'
import { useRedis } from '../../../support/use-redis.ts'

const KEY = userKey('alice')
const EPOCH = 'sessmgr:epoch'

const db = useRedis()

it('a damaged count of site-wide logouts lets nobody pass, moves nowhere, and says how it is mended', async () => {
  const { epoch, transients, ...store } = redisStore({ client: db.client })
  const limiter = sessmgr({ store: { epoch, transients, ...store } })
  const wrong = ['abc', '', ' ', '-1', '1.5', '1e3', '0x1', '9'.repeat(40), 'name 1 abc', `name 1 ${'a'.repeat(65)}`]
  for (const value of wrong) {
    await db.client.set(EPOCH, value)
    for (const call of [() => epoch.current(), () => epoch.advance(), () => limiter.sessions.list('alice')]) {
      await expect(call(), JSON.stringify(value)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringMatching(/"sessmgr:epoch" in the sessmgr Redis server is damaged.*whole number.*larger/),
      })
    }
    expect(await db.client.get(EPOCH)).toBe(value)
  }
  await db.client.set(EPOCH, '1000000')
  expect(await epoch.current()).toEqual({ generation: 1_000_000, keeps: undefined })
  expect((await epoch.advance())?.generation).toBeGreaterThan(1_000_000)
  await db.client.set('sessmgr:g:comments', 'x')
  await expect(transients.generation('comments')).rejects.toThrow(/"sessmgr:g:comments".*is damaged/)
})

it('a damaged row of a user says what to do, is in the way of nobody else, and is over when that is done', async () => {
  const { sessions } = redisStore({ client: db.client })
  await login(sessions, 'bob', 'other')
  const calls: Record<string, () => Promise<unknown>> = {
    useOf: () => sessions.useOf('alice', tokenOf('good')),
    read: () => sessions.read('alice'),
    adopt: () => sessions.adopt('alice', newSession('dormant')),
    touch: () => sessions.touch('alice', tokenOf('good'), 1000),
    end: () => sessions.end('alice'),
    endOthers: () => sessions.endOthers('alice', tokenOf('good')),
  }
  for (const value of ['garbage', 'name {"s":[["goo', 'name {"s":[["good","x",0,1]]}', 'name {}']) {
    await login(sessions, 'alice', 'good')
    await db.client.set(KEY, value)
    for (const [name, call] of Object.entries(calls)) {
      await expect(call(), `${name} of ${value}`).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringMatching(/user "alice".*is damaged.*Delete it/),
      })
    }
    expect(await idsOf(sessions, 'bob')).toEqual(['other'])
    expect(await db.client.get(KEY), 'it could still be mended').toBe(value)
    await db.client.del(KEY)
    expect(await idsOf(sessions, 'alice')).toEqual([])
  }
  await login(sessions, 'alice', 'good')
  await db.client.set(KEY, '')
  expect(await idsOf(sessions, 'alice'), 'an empty row').toEqual([])
  await login(sessions, 'alice', 'new')
  expect(await idsOf(sessions, 'alice')).toEqual(['new'])
})

it('a token that only begins as the one of a session is not of that session', async () => {
  const store = redisStore({ client: db.client })
  await login(store.sessions, 'alice', 'a')
  const alike = tokenOf('a').slice(0, 16).padEnd(64, '0')
  expect(await store.sessions.useOf('alice', alike)).toBeUndefined()
  const { sessions } = sessmgr({ store })
  expect(await sessions.end('alice', alike)).toBe(false)
  await expect(sessions.endOthers('alice', alike)).rejects.toMatchObject({ code: 'invalid_option' })
  expect(await idsOf(store.sessions, 'alice')).toEqual(['a'])
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
