import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { memoryStore, type SessmgrStore, tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import type { Browser } from '../../support/browser.ts'
import type { HostUnderTest } from '../../support/host-under-test.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'
import { rounds } from '../../support/rounds.ts'
import { BY_THE_STORE, HELD_HOSTS, type HeldHost } from './held-ways.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

const stores: Record<string, () => SessmgrStore | Promise<SessmgrStore>> = {
  memory: () => memoryStore(),
  async Redis() {
    const client = await connectRedis(redis.url)
    onTestFinished(() => client.destroy())
    await client.flushAll()
    return redisStore({ client })
  },
}

interface Trial {
  readonly host: HostUnderTest
  readonly login: string
  readonly userId: number
  readonly browser: Browser
}

/** What ends a session while its request is under way, and how many sessions its user has after that. */
const ends: Record<string, { left: number; end(trial: Trial): Promise<unknown> }> = {
  'the end of all sessions of the user': { left: 0, end: ({ host, userId }) => host.limiter.sessions.endAll(userId) },
  'the end of this one session': {
    left: 0,
    end: ({ host, userId, browser }) => host.limiter.sessions.end(userId, tokenOf(host.sessionIdOf(browser) ?? '')),
  },
  'a login that displaces it': { left: 1, end: ({ host, login }) => host.browser().login(login) },
  'a logout in another tab': { left: 0, end: ({ browser }) => browser.copy().post('/logout') },
}

/** Holds one request for each way, lets all their sessions end, and lets the requests go on. */
async function tryAll({ ways }: HeldHost, host: HostUnderTest, end: (trial: Trial) => Promise<unknown>) {
  const trials = await inParallel(ways.length, ways.length, async (index) => {
    const login = `user${index}`
    const browser = host.browser()
    expect((await browser.login(login)).status).toBe(200)
    const trial = { host, login, userId: 1000 + index, browser }
    const held = browser.copy()
    const { finish } = held.hold(`/way/${encodeURIComponent(ways[index] ?? '')}?arrival=${login}`, { username: login })
    await host.gates.at(login).arrived
    return { ...trial, held, finish }
  })
  for (const trial of trials) await end(trial)
  const outcomes = await inParallel(trials.length, trials.length, async (index) => {
    const { held, browser, userId, finish } = trials[index] as (typeof trials)[number]
    await finish()
    return [await held.me(), await browser.me(), await host.limiter.sessions.count(userId)]
  })
  return Object.fromEntries(ways.map((way, index) => [way, outcomes[index]]))
}

const outcomeOfAll = ({ ways }: HeldHost, outcome: unknown) => Object.fromEntries(ways.map((way) => [way, outcome]))

const settings = { maximum: 1, logic: 'logout_oldest' }
const isCampaign = rounds(1) > 1
// A host sees nothing of the store: one of them shows that of Redis, and every end; the campaign shows all.
const places = Object.keys(HELD_HOSTS).flatMap((name) => [
  {
    name,
    store: 'memory',
    ways: isCampaign || name === 'Express 5' ? Object.keys(ends) : Object.keys(ends).slice(0, 1),
  },
  ...(isCampaign || name === 'Express 5' ? [{ name, store: 'Redis', ways: Object.keys(ends) }] : []),
])

describe.each(places)(
  'rule 46: on $name over $store, a request whose session is ended before its body comes',
  (place) => {
    const kind = HELD_HOSTS[place.name] as HeldHost
    const start = async () =>
      kind.start({
        sessions: new JsonSessions(),
        sessmgr: { settings, store: await (stores[place.store] as () => Promise<SessmgrStore>)() },
      })

    test.each(place.ways)('does not go on signed in after %s', async (name) => {
      const { left, end } = ends[name] as (typeof ends)[string]
      expect(await tryAll(kind, await start(), end)).toEqual(outcomeOfAll(kind, [401, 401, left]))
    })

    test('does not go on signed in after a site-wide logout', async () => {
      const host = await start()
      let done: Promise<unknown> | undefined
      const end = () => {
        done ??= host.limiter.sessions.logoutAllUsers()
        return done
      }
      expect(await tryAll(kind, host, end)).toEqual(outcomeOfAll(kind, [401, 401, 0]))
    })
  },
)

describe.each(Object.keys(HELD_HOSTS))('on %s', (name) => {
  const kind = HELD_HOSTS[name] as HeldHost
  const start = () => kind.start({ sessions: new JsonSessions(), sessmgr: { settings } })
  const held = async (host: HostUnderTest, way: string, username: string) => {
    const browser = host.browser()
    await browser.login('user1')
    const { finish } = browser.hold(`/way/${encodeURIComponent(way)}?arrival=held`, { username })
    await host.gates.at('held').arrived
    return { browser, finish }
  }

  test('rule 46: the same user is told to sign in again, and can; another user may sign in', async () => {
    const host = await start()
    for (const way of [kind.ways[0] as string, 'limiter.login']) {
      const { browser, finish } = await held(host, way, 'user1')
      await host.limiter.sessions.endAll(1001)
      await finish()
      expect(host.errors.at(-1), way).toMatchObject({ code: 'session_ended', status: 401 })
      expect((await browser.login('user1')).status, way).toBe(200)
      expect([await browser.me(), await host.limiter.sessions.count(1001)], way).toEqual([200, 1])
    }
    const { browser, finish } = await held(host, kind.ways[0] as string, 'user2')
    await host.limiter.sessions.endAll(1001)
    expect((await finish()).status).toBe(204)
    expect((await browser.get('/me')).json()).toEqual({ id: 1002 })
    expect([await host.limiter.sessions.count(1001), await host.limiter.sessions.count(1002)]).toEqual([0, 1])
  })

  test('a slow request whose session nobody has ended goes on signed in, so that these trials can tell', async () => {
    const outcomes = await tryAll(kind, await start(), async () => {})
    const lost = Object.keys(outcomes).filter((way) => outcomes[way]?.[0] !== 200 || outcomes[way]?.[2] !== 1)
    expect(lost).toEqual(kind.ways.filter((way) => way === BY_THE_STORE))
  })
})
