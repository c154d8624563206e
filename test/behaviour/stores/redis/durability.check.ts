import { inspect } from 'node:util'
import { createClientPool } from 'redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { tokenOf } from '../../../../src/index.ts'
import type { RedisClient } from '../../../../src/redis.ts'
import type { Browser } from '../../../support/browser.ts'
import { inParallel } from '../../../support/in-parallel.ts'
import { connectRedis, type NodeRedis } from '../../../support/redis-client.ts'
import { type RedisHost, startRedisHost } from '../../../support/redis-host.ts'
import { type ReplicatedRedis, startReplicated } from '../../../support/redis-replicated.ts'
import { readUser, textOf } from '../../../support/redis-rows.ts'

/** Long enough for a slow machine to log in. */
const DEADLINE_MS = 1500

const ALICE = 2
const BOB = 3

let servers: ReplicatedRedis
let replica: NodeRedis
let master: NodeRedis
beforeAll(async () => {
  servers = await startReplicated()
  master = await connectRedis(servers.master.url)
  replica = await connectRedis(servers.replica.url)
})
afterAll(async () => {
  replica.destroy()
  master.destroy()
  await servers.stop()
})

const tokenIn = (browser: Browser) => tokenOf(browser.sessionId() ?? '')
const isAtReplica = async (user: number, token: string) =>
  (await readUser(replica, user))?.s.some(({ i }) => tokenOf(i) === token) ?? false

type Connect = () => Promise<{ client: RedisClient; close(): unknown }>

const kinds: Record<string, Connect> = {
  async 'a client'() {
    const client = await connectRedis(servers.master.url)
    return { client, close: () => client.destroy() }
  },
  async 'a pool'() {
    const client = createClientPool({ url: servers.master.url }, { minimum: 1, maximum: 25 })
    client.on('error', () => {})
    await client.connect()
    return { client, close: () => client.destroy() }
  },
}

describe("with a pool and durability 'replica'", () => {
  it('many ends that wait for a stopped replica hold up nobody else', async () => {
    const { client, close } = await (kinds['a pool'] as Connect)()
    const host = await startRedisHost({ client, durability: 'replica', deadlineMs: DEADLINE_MS })
    onTestFinished(async () => {
      servers.replica.process.kill('SIGCONT')
      await host.close()
      await close()
    })
    const browser = await host.signedIn('alice')
    servers.replica.process.kill('SIGSTOP')
    const ends = Promise.allSettled(Array.from({ length: 20 }, (_, user) => host.limiter.sessions.endAll(user + 100)))
    const visits = await inParallel(50, 2, () => browser.me())
    expect(visits.filter((status) => status !== 200)).toEqual([])
    expect((await ends).map(({ status }) => status)).not.toContain('fulfilled')
  })
})

for (const [kind, connect] of Object.entries(kinds)) {
  describe(`with ${kind} and durability 'replica'`, () => {
    let host: RedisHost
    let close: () => unknown
    beforeAll(async () => {
      const connected = await connect()
      close = connected.close
      host = await startRedisHost({ client: connected.client, durability: 'replica', deadlineMs: DEADLINE_MS })
    })
    afterAll(async () => {
      servers.replica.process.kill('SIGCONT')
      await host.close()
      await close()
    })

    it('an end of one session, of all of a user, and of everybody is at the replica when it is confirmed', async () => {
      for (let round = 0; round < 10; round++) {
        const [alice, bob] = [await host.signedIn('alice'), await host.signedIn('bob')]
        const [aliceToken, bobToken] = [tokenIn(alice), tokenIn(bob)]
        expect((await alice.post('/logout')).status).toBe(204)
        expect(await isAtReplica(ALICE, aliceToken)).toBe(false)
        expect(await host.limiter.sessions.end(BOB, bobToken)).toBe(true)
        expect(await isAtReplica(BOB, bobToken)).toBe(false)
        const token = tokenIn(await host.signedIn('alice'))
        await vi.waitFor(async () => expect(await isAtReplica(ALICE, token)).toBe(true), { timeout: 30_000 })
        await host.limiter.sessions.endAll(ALICE)
        expect(await isAtReplica(ALICE, token)).toBe(false)
        await host.limiter.sessions.logoutAllUsers()
        expect(Number(textOf(await replica.get('sessmgr:epoch')))).toBe((await host.store.epoch.current()).generation)
      }
    })

    it('nothing is confirmed while the replica is stopped: 503, and the cookie stays; logins go on', async () => {
      const leaving = await host.signedIn('alice')
      const cookie = leaving.sessionId()
      servers.replica.process.kill('SIGSTOP')
      const { status, headers } = await leaving.post('/logout')
      expect([status, headers.get('retry-after'), leaving.sessionId()]).toEqual([503, '2', cookie])
      const unconfirmed = { code: 'store_unavailable' }
      await expect(host.limiter.sessions.logoutAllUsers()).rejects.toMatchObject(unconfirmed)
      await expect(host.limiter.sessions.endAll(BOB)).rejects.toMatchObject(unconfirmed)
      // Nor is it by another try, which finds that the primary has ended the session.
      const token = tokenIn(leaving)
      for (let tries = 0; tries < 2; tries++) {
        await expect(host.limiter.sessions.end(ALICE, token)).rejects.toMatchObject(unconfirmed)
      }
      expect((await host.browser().login('bob')).status).toBe(200)
    })

    it('an end that no replica confirms is followed up all the same: no data is left, and its action fires', async () => {
      servers.replica.process.kill('SIGCONT')
      await vi.waitFor(() => host.limiter.sessions.endAll(ALICE), { timeout: 30_000 })
      const [first, second] = [await host.signedIn('alice'), await host.signedIn('bob')]
      const hasData = async (browser: Browser) => (await master.exists(`sess:${browser.sessionId()}`)) === 1
      expect([await hasData(first), await hasData(second)]).toEqual([true, true])
      const fired: unknown[][] = []
      const { hooks, sessions } = host.limiter
      hooks.addAction('sessmgr_destroy_session', 'test', (...args) => void fired.push(args))
      hooks.addAction('sessmgr_destroy_all_sessions', 'test', (...args) => void fired.push(args))
      servers.replica.process.kill('SIGSTOP')

      const unconfirmed = { code: 'store_unavailable' }
      await expect(sessions.end(ALICE, tokenIn(first))).rejects.toMatchObject(unconfirmed)
      expect([await hasData(first), await hasData(second)]).toEqual([false, true])
      await expect(sessions.end(ALICE, tokenIn(first))).rejects.toMatchObject(unconfirmed)
      const failure: unknown = await sessions.endAll(BOB).catch((error) => error)
      expect(failure).toMatchObject(unconfirmed)
      expect(JSON.stringify(failure) + inspect(failure)).not.toContain(second.sessionId())
      expect(await hasData(second)).toBe(false)
      expect(fired).toEqual([[ALICE, tokenIn(first)], [BOB]])
      hooks.removeAction('sessmgr_destroy_session', 'test')
      hooks.removeAction('sessmgr_destroy_all_sessions', 'test')
    })

    it('everything is confirmed again when the replica is back', async () => {
      servers.replica.process.kill('SIGCONT')
      const browser = await host.signedIn('alice')
      await vi.waitFor(() => host.limiter.sessions.logoutAllUsers(), { timeout: 30_000 })
      expect(await browser.me()).toBe(401)
      const again = await host.signedIn('alice')
      expect((await again.post('/logout')).status).toBe(204)
    })
  })
}
