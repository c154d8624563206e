import { beforeAll, expect, it } from 'vitest'
import { type Sessmgr, sessmgr } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { useRedis } from '../../support/use-redis.ts'

const KEY = 'sessmgr:p:alice'

const db = useRedis()
let limiter: Sessmgr
beforeAll(() => {
  limiter = sessmgr({ store: redisStore({ client: db.client }) })
})

/** How often each command is called while something is done. */
async function commandsOf(task: () => Promise<unknown>): Promise<Record<string, number>> {
  await db.client.sendCommand(['CONFIG', 'RESETSTAT'])
  await task()
  const lines = String(await db.client.info('commandstats')).matchAll(/^cmdstat_((?!config|info)\w+):calls=(\d+)/gm)
  return Object.fromEntries([...lines].map(([, command, calls]) => [command, Number(calls)]))
}

it('a password is checked by the same commands, however many there are of its user', async () => {
  const { password } = await limiter.passwords.create('alice', 'first')
  expect(await limiter.passwords.verify('alice', password)).toBe(true)
  // That it was used is noted later, and not again soon.
  await expect.poll(() => db.client.keys('sessmgr:t:*')).toHaveLength(1)
  const withOne = await commandsOf(() => limiter.passwords.verify('alice', password))
  for (let count = 0; count < 100; count++) await limiter.passwords.create('alice', `number ${count}`)
  for (const given of [password, 'x'.repeat(24)]) {
    expect(await commandsOf(() => limiter.passwords.verify('alice', given))).toEqual(withOne)
  }
  expect(withOne).toEqual({ get: 1 })
})

it('a lookup leaves no trace of users without passwords', async () => {
  await limiter.passwords.create('alice', 'a')
  expect(await limiter.passwords.verify('nobody', 'x'.repeat(24))).toBe(false)
  expect(await limiter.passwords.verify(undefined, 'x'.repeat(24))).toBe(false)
  const keys = await db.client.keys('*')
  expect(keys.filter((key) => !key.startsWith('sessmgr:t:password-used:'))).toEqual([KEY])
})
