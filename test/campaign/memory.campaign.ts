import { RedisStore } from 'connect-redis'
import { expect, it } from 'vitest'
import { SiteSecrets } from '../../src/auth/site-secrets.ts'
import { PAIR_KEY } from '../../src/door/sessions/pair.ts'
import { sessmgr, tokenOf } from '../../src/index.ts'
import { redisStore } from '../../src/redis.ts'
import { startFetchApp } from '../behaviour/hosts/fetch-app.ts'
import { heapInUse } from '../support/heap.ts'
import { printFigures } from '../support/print-figures.ts'
import { userKey, writtenUser } from '../support/redis-rows.ts'
import { rounds } from '../support/rounds.ts'
import { useRedis } from '../support/use-redis.ts'

const db = useRedis()
const AT_ONCE = 1000
const LIFE_MS = 3_600_000

it('a process through which very many sessions pass, each of another user, keeps as much as after the first ones', async () => {
  const { client } = db
  const sessionStore = new RedisStore({ client })
  const { get } = sessionStore
  const store = redisStore({ client, deadlineMs: 60_000 })
  const limiter = sessmgr({ store, sessionStore, deadlineMs: 60_000 })
  const { registry } = await new SiteSecrets(store.options, []).load()
  expect(await store.watch?.whyNot(sessionStore)).toBeUndefined()
  expect(sessionStore.get).not.toBe(get)

  /** Writes a session as a login leaves it behind. */
  async function write(sessionId: string): Promise<void> {
    const [token, now] = [tokenOf(sessionId), Date.now()]
    const data = { cookie: { originalMaxAge: LIFE_MS }, [PAIR_KEY]: { userId: sessionId, token, registry } }
    const row = { s: [{ i: sessionId, a: now, l: 0, x: LIFE_MS, rest: [] }] }
    await Promise.all([
      client.set(userKey(sessionId), `written ${writtenUser(row)}`),
      client.set(`sess:${sessionId}`, JSON.stringify(data)),
    ])
  }
  const read = (sessionId: string) =>
    new Promise<boolean>((resolve, reject) => {
      sessionStore.get(sessionId, (error: unknown, data: unknown) => (error ? reject(error) : resolve(Boolean(data))))
    })

  let passed = 0
  async function pass(count: number): Promise<number> {
    for (const end = passed + count; passed < end; passed += AT_ONCE) {
      const ids = Array.from({ length: AT_ONCE }, (_, index) => `session-${passed + index}`)
      await Promise.all(ids.map(write))
      // At first the registry is asked, then the session is followed, and then it is known.
      for (let time = 0; time < 3; time++) expect(new Set(await Promise.all(ids.map(read)))).toEqual(new Set([true]))
    }
    return heapInUse()
  }

  const first = await pass(rounds(10_000))
  const last = await pass(rounds(90_000))
  const followed = Number(/tracking_total_keys:(\d+)/.exec(await client.info('stats'))?.[1])
  const rss = process.memoryUsage().rss / 2 ** 20
  const redis = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]) / 2 ** 20
  printFigures('sessions in one process', { sessions: passed, first, last, followed, rss, redis })
  await limiter.close()
  expect(followed).toBeGreaterThan(0)
  expect(last - first).toBeLessThan(5)
}, 3_000_000)

it('ten thousand requests through `sessmgr/fetch` leave no memory behind', async () => {
  const { send, logIn } = startFetchApp({ settings: { maximum: 3 } })
  const cookie = await logIn()
  const pass = async (count: number) => {
    for (let done = 0; done < count; done += 100) {
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => (await send(index % 2 ? '/me' : '/devices', cookie)).text()),
      )
    }
    return heapInUse()
  }
  const first = await pass(2000)
  expect((await pass(10_000)) - first).toBeLessThan(2)
})
