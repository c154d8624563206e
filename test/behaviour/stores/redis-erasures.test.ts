import { expect, it, vi } from 'vitest'
import { Erasures } from '../../../src/auth/erasures.ts'
import { redisStore } from '../../../src/redis.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { useRedis } from '../../support/use-redis.ts'

const db = useRedis()

it('rule 63: a login of a new user asks in its commit alone whether its user is being erased', async () => {
  const { client } = db
  const store = redisStore({ client })
  const world = createLimiterWorld({ store })
  const erasures = new Erasures(store)
  const read = vi.spyOn(store.transients, 'get')
  await world.login('alice')
  await world.login('alice')
  expect(read).not.toHaveBeenCalled()

  const begun = await erasures.begin('bob')
  await expect(world.login('bob')).rejects.toMatchObject({ code: 'session_ended' })
  expect([await client.keys('*{bob}*'), world.host.ids.size]).toEqual([[], 1])
  await erasures.note(['bob'], { ...begun, sequence: 0, at: Date.now(), isRunning: false })
  expect(await world.login('bob')).toBeDefined()
})

it('rule 63: behind a proxy that spreads keys over servers, the mark is read after the commit', async () => {
  const { client } = db
  const spread = Object.create(client, {
    evalSha: {
      value: (sha1: string, options: { keys: string[]; arguments: string[] }) =>
        options.keys.length > 1
          ? Promise.reject(new Error("CROSSSLOT Keys in request don't hash to the same slot"))
          : client.evalSha(sha1, options),
    },
  })
  const store = redisStore({ client: spread })
  const world = createLimiterWorld({ store })
  expect([await world.login('alice'), await world.login('alice')]).toEqual(['raw-id-1', 'raw-id-2'])
  await new Erasures(store).begin('bob')
  await expect(world.login('bob')).rejects.toMatchObject({ code: 'session_ended' })
  expect(await client.keys('*{bob}*')).toEqual([])
})
