import { expect, it, vi } from 'vitest'
import { Erasures } from '../../../src/auth/erasures.ts'
import { redisStore } from '../../../src/redis.ts'
import { deferred } from '../../support/deferred.ts'
import { createLimiterWorld, SimpleHost } from '../../support/limiter-world.ts'
import { useRedis } from '../../support/use-redis.ts'

const db = useRedis()

it('rule 63: a login of a new user reads the mark of an erasure once, and nothing waits for it', async () => {
  const { client } = db
  const store = redisStore({ client })
  const world = createLimiterWorld({ store })
  const erasures = new Erasures(store)
  const read = vi.spyOn(store.transients, 'get')
  await world.login('alice')
  await world.login('alice')
  expect(read).toHaveBeenCalledTimes(2)

  const begun = await erasures.begin('bob')
  await expect(world.login('bob')).rejects.toMatchObject({ code: 'session_ended' })
  expect([await client.keys('*{bob}*'), world.host.ids.size]).toEqual([[], 1])
  await erasures.note(['bob'], { ...begun, sequence: 0, at: Date.now(), isRunning: false })
  expect(await world.login('bob')).toBeDefined()
})

it.each([
  ['the application decides', undefined],
  ['Redis decides', 'sess:'],
])('rule 63: a login that begins during an erasure and outlasts it is refused, where %s', async (_, prefix) => {
  const store = redisStore({ client: db.client })
  const host = Object.assign(new SimpleHost(), { prefix })
  const world = createLimiterWorld({ store, host })
  // The settings are known from now on.
  await world.login('alice')
  const erasures = new Erasures(store)
  const begun = await erasures.begin('bob')
  const [read, held] = [vi.spyOn(store.transients, 'get'), deferred()]
  const client = { ip: null, userAgent: null }
  const late = world.limiter.admit({ userId: 'bob', ...client }, () => held.promise.then(() => host.establish()))
  const refused = expect(late).rejects.toMatchObject({ code: 'session_ended' })
  await vi.waitFor(() => expect(read).toHaveBeenCalled())
  await Promise.resolve(read.mock.results[0]?.value)
  await erasures.note(['bob'], { ...begun, sequence: 0, at: Date.now(), isRunning: false })
  held.resolve()
  await refused
  expect(await world.live('bob')).toEqual([])

  const next = await world.login('bob')
  expect(await world.live('bob')).toEqual([next])
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
