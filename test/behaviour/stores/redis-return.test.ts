import { channel } from 'node:diagnostics_channel'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { type RedisHost, type RedisHostOptions, startRedisHost } from '../../support/redis-host.ts'
import { readUser, userKey } from '../../support/redis-rows.ts'
import { useRedis } from '../../support/use-redis.ts'

const db = useRedis()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function start(
  change: (client: Awaited<ReturnType<typeof connectRedis>>) => object = (client) => client,
  options: Partial<RedisHostOptions> = {},
) {
  const client = await connectRedis(db.server.url)
  const own = { client: change(client) as never, sessionClient: client, tracking: false }
  const host = await startRedisHost({ ...own, ...options })
  closing.push(async () => {
    await host.close()
    client.destroy()
  })
  return host
}

/** Counts every command, those of scripts included. */
async function commandsOf(task: () => Promise<unknown>): Promise<number> {
  const count = async () => Number(/total_commands_processed:(\d+)/.exec(await db.client.info('stats'))?.[1])
  const before = await count()
  await task()
  return (await count()) - before - 1
}

/** Lets somebody return, so that what concerns everybody is known: the note about the logout, and the texts. */
async function returned(browsers: readonly Browser[], host: RedisHost): Promise<void> {
  for (const browser of browsers) expect(await browser.copy(host.origin).me()).toBe(401)
}

describe('the next request after a site-wide logout', () => {
  it('deletes its session and its record, writes why, and leaves no more than a note that expires', async () => {
    const [here, there] = [await start(), await start()]
    const people = await Promise.all(['alice', 'bob'].map((name) => here.signedIn(name)))
    const [alice, bob] = people as [Browser, Browser]
    await here.limiter.sessions.logoutAllUsers(undefined, { note: 'Maintenance.' })
    await returned([bob], there)
    // Read are the session and the generation, its user and the generation, and the user again to change it. Deleted is
    // the session, and written are its user and why it ended. A script counts as three commands.
    expect(await commandsOf(() => returned([alice], there))).toBeLessThanOrEqual(11)
    expect(await readUser(db.client, 2)).toMatchObject({ s: [] })
    const left = await db.client.pTTL(userKey(2))
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(600_000)
    expect(await db.client.exists(`sess:${alice.sessionId() ?? ''}`)).toBe(0)
    const { ended } = (await alice.copy(here.origin).get('/state')).json() as { ended?: object }
    expect(ended).toMatchObject({ reason: 'missing', cause: { kind: 'logout_all', note: 'Maintenance.' } })
  })

  it.each([true, false])(
    'fires once over two processes, with all details for those who listen (%s)',
    async (listens) => {
      const hosts = [await start(), await start()]
      const [here] = hosts as [RedisHost]
      const told: object[] = []
      const hear = (message: unknown) => void told.push(message as object)
      const ends = channel('sessmgr.session.ended')
      if (listens) ends.subscribe(hear)
      onTestFinished(() => void ends.unsubscribe(hear))
      const alice = await here.signedIn('alice')
      const [session] = await here.limiter.sessions.list(2)
      await here.limiter.sessions.logoutAllUsers()
      const visits = Array.from({ length: 20 }, (_, index) => alice.copy(hosts[index % 2]?.origin ?? '').me())
      expect(await Promise.all(visits)).toEqual(Array(20).fill(401))
      const fired = hosts.flatMap(({ actions }) => actions).filter(([name]) => name === 'sessmgr_session_invalidated')
      expect(fired).toEqual([['sessmgr_session_invalidated', 2, tokenOf(alice.sessionId() ?? '')]])
      expect(told).toEqual(listens ? [expect.objectContaining({ session, kind: 'logout_all' })] : [])
    },
  )

  it('waits for a replica where every end does, so that no failover repeats it', async () => {
    const host = await start(undefined, { durability: 'replica', deadlineMs: 400 })
    const alice = await host.signedIn('alice')
    await db.client.incr('sessmgr:epoch')
    // There is no replica to confirm it.
    expect(await alice.me()).toBe(503)
    expect(await alice.me()).toBe(401)
  })

  it('leaves a login alone that is being decided on', async () => {
    const host = await start()
    const alice = await host.signedIn('alice')
    await host.limiter.sessions.logoutAllUsers()
    const logins = Array.from({ length: 3 }, () => host.browser())
    await Promise.all([alice.me(), ...logins.map((browser) => browser.login('alice'))])
    const statuses = await Promise.all(logins.map((browser) => browser.me()))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })
})
