import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { Browser } from '../../../support/browser.ts'
import { connectRedis } from '../../../support/redis-client.ts'
import { type RedisHost, type RedisHostOptions, startRedisHost } from '../../../support/redis-host.ts'
import { rewriteSession, type WrittenSession } from '../../../support/redis-rows.ts'
import { useRedis } from '../../../support/use-redis.ts'

const HOUR = 3_600_000
const db = useRedis()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Starts a process with a connection of its own, which knows the server's clock and whose scripts are loaded. */
async function start(options: Partial<RedisHostOptions> = {}): Promise<RedisHost> {
  const client = await connectRedis(db.server.url)
  const host = await startRedisHost({ client, cookieMaxAge: HOUR, tracking: false, ...options })
  closing.push(async () => {
    await host.close()
    client.destroy()
  })
  const bob = await host.signedIn('bob')
  await bob.me()
  return host
}

/** Counts what requests write: last uses in the registry, and the expiry of sessions in the session store. */
async function writesOf(task: () => Promise<unknown>): Promise<{ uses: number; expiries: number }> {
  const count = async () => {
    const info = await db.client.info('commandstats')
    const calls = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(info)?.[1] ?? 0)
    return [calls('set'), calls('expire')] as const
  }
  const before = await count()
  await task()
  const after = await count()
  return { uses: after[0] - before[0], expiries: after[1] - before[1] }
}

const lastUse = async ({ limiter }: RedisHost) => (await limiter.sessions.list(2))[0]
const at = (browser: Browser, host: RedisHost) => browser.copy(host.origin)

/** Rewrites how the session of Alice is stored. */
const rewrite = async (change: (session: WrittenSession) => unknown) =>
  expect(await rewriteSession(db.client, 2, change)).toBe(true)

describe('the first request of a session in another process', () => {
  it.each([true, false])('writes nothing if it was used a moment ago (tracking: %s)', async (tracking) => {
    const [here, there] = [await start({ tracking }), await start({ tracking })]
    if (tracking) await expect.poll(() => there.store.watch?.whyNot()).toBeUndefined()
    const alice = at(await here.signedIn('alice'), there)
    const before = await lastUse(here)
    for (let request = 0; request < 3; request++) {
      expect(await writesOf(async () => expect(await alice.me()).toBe(200))).toEqual({ uses: 0, expiries: 0 })
    }
    expect(await lastUse(here)).toEqual(before)
  })

  it('records its use everywhere if it was not', async () => {
    const [here, there] = [await start(), await start()]
    const alice = at(await here.signedIn('alice'), there)
    // As if the login were two minutes ago.
    await rewrite((session) => {
      session.a -= 120_000
    })
    expect(await writesOf(() => alice.me())).toEqual({ uses: 1, expiries: 1 })
    expect(Date.now() - Number((await lastUse(here))?.lastSeenAt)).toBeLessThan(60_000)
    expect(await writesOf(() => alice.me())).toEqual({ uses: 0, expiries: 0 })
  })

  it('records its use if the registry has another lifetime, or its clock was set back, so that it lives as it should', async () => {
    const changes: Readonly<Record<string, (session: WrittenSession) => void>> = {
      lifetime(session) {
        session.x = HOUR / 2
      },
      clock(session) {
        session.a += 2 * HOUR
      },
    }
    for (const [what, change] of Object.entries(changes)) {
      await db.client.flushAll()
      const [here, there] = [await start(), await start()]
      const alice = at(await here.signedIn('alice'), there)
      await rewrite(change)
      expect(await writesOf(() => alice.me()), what).toEqual({ uses: 1, expiries: 1 })
      const { lastSeenAt = 0, expiresAt = 0 } = (await lastUse(here)) ?? {}
      expect(Math.round((expiresAt - lastSeenAt) / 60_000), what).toBe(60)
      expect(Math.round((expiresAt - Date.now()) / 60_000), what).toBe(60)
    }
  })
})

describe('a session that two processes serve', () => {
  it('is followed without a write while the other one records its use', async () => {
    const [here, there] = [await start({ touchEvery: 1500 }), await start({ touchEvery: 1500, tracking: true })]
    await expect.poll(() => there.store.watch?.whyNot()).toBeUndefined()
    const one = await here.signedIn('alice')
    const other = at(one, there)
    await other.me()
    await sleep(1600)
    expect(await writesOf(() => one.me())).toEqual({ uses: 1, expiries: 1 })
    expect(await writesOf(() => other.me())).toEqual({ uses: 0, expiries: 0 })
    // Not longer than the interval after the use that the other process has recorded.
    await sleep(1600)
    expect(await writesOf(() => other.me())).toEqual({ uses: 1, expiries: 1 })
  })
})
