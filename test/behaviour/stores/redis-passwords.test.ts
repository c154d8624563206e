import { beforeAll, expect, it } from 'vitest'
import { type Sessmgr, sessmgr } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { useRedis } from '../../support/use-redis.ts'

const KEY = 'sessmgr:{alice}:p'

const db = useRedis()
let limiter: Sessmgr
beforeAll(() => {
  limiter = sessmgr({ store: redisStore({ client: db.client }) })
})

/** How often each command is called while something is done. */
async function commandsOf(task: () => Promise<unknown>): Promise<Record<string, number>> {
  await db.client.sendCommand(['CONFIG', 'RESETSTAT'])
  await task()
  const lines = String(await db.client.info('commandstats')).matchAll(/^cmdstat_(h\w+):calls=(\d+)/gm)
  return Object.fromEntries([...lines].map(([, command, calls]) => [command, Number(calls)]))
}

it('a password is checked by the same commands, however many there are of its user', async () => {
  const { password } = await limiter.passwords.create('alice', 'first')
  const withOne = await commandsOf(() => limiter.passwords.verify('alice', password))
  for (let count = 0; count < 100; count++) await limiter.passwords.create('alice', `number ${count}`)
  for (const given of [password, 'x'.repeat(24)]) {
    expect(await commandsOf(() => limiter.passwords.verify('alice', given))).toEqual(withOne)
  }
  expect(withOne).toEqual({ hget: 1, hexists: 1 })
})

it('passwords that were written before they were found by their hash are found, and leave no trace for others', async () => {
  const passwords = [await limiter.passwords.create('alice', 'a'), await limiter.passwords.create('alice', 'b')]
  for (const field of await db.client.hKeys(KEY)) if (/^[=#]/.test(field)) await db.client.hDel(KEY, field)
  expect(await db.client.hLen(KEY)).toBe(2)
  for (const { password } of passwords) expect(await limiter.passwords.verify('alice', password)).toBe(true)
  expect(await limiter.passwords.list('alice')).toHaveLength(2)
  expect(await limiter.passwords.revoke('alice', passwords[0]?.id ?? '')).toBe(true)
  const verdicts = passwords.map(({ password }) => limiter.passwords.verify('alice', password))
  expect(await Promise.all(verdicts)).toEqual([false, true])
  expect(await limiter.passwords.verify('nobody', 'x'.repeat(24))).toBe(false)
  expect(await limiter.passwords.verify(undefined, 'x'.repeat(24))).toBe(false)
  const keys = await db.client.keys('*')
  expect(keys.filter((key) => !key.startsWith('sessmgr:transient:password-used:'))).toEqual([KEY])
})

it('passwords from before that are added to are all found', async () => {
  const old = await limiter.passwords.create('alice', 'old')
  for (const field of await db.client.hKeys(KEY)) if (/^[=#]/.test(field)) await db.client.hDel(KEY, field)
  const { password } = await limiter.passwords.create('alice', 'new')
  for (const given of [old.password, password]) expect(await limiter.passwords.verify('alice', given)).toBe(true)
})
