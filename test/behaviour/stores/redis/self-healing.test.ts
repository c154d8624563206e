import { channel } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { SiteSecrets } from '../../../../src/auth/site-secrets.ts'
import { tokenOf } from '../../../../src/index.ts'
import { redisStore } from '../../../../src/redis.ts'
import type { Browser } from '../../../support/browser.ts'
import { recordActions } from '../../../support/record-actions.ts'
import { connectRedis, type NodeRedis } from '../../../support/redis-client.ts'
import { startRedisHost } from '../../../support/redis-host.ts'
import { readUser, userKey } from '../../../support/redis-rows.ts'
import { useRedis } from '../../../support/use-redis.ts'

const ALICE = 2

const db = useRedis()
/** Another database than the one of the session store. */
let registry: NodeRedis
beforeAll(async () => {
  registry = await connectRedis(`${db.server.url}/1`)
  return () => registry.destroy()
})
beforeEach(() => registry.flushDb())

async function start(settings: object, options: object = {}) {
  const own = { client: registry, sessionClient: db.client, settings, tracking: false }
  const host = await startRedisHost({ ...own, ...options })
  onTestFinished(() => host.close())
  return { host, actions: recordActions(host.limiter.hooks), limiter: host.limiter }
}

const keyOf = (browser: Browser) => `sess:${browser.sessionId()}`
const statuses = (...browsers: readonly (Browser | undefined)[]) =>
  Promise.all(browsers.map((browser) => browser?.me()))

describe('rule 6: a session that the session store has lost', () => {
  it.each([
    ['block', 1, 'was deleted by hand'],
    ['logout_oldest', 2, 'has expired'],
    ['allow', 2, 'was deleted by hand'],
  ])('blocks, displaces and ends nobody in %s, and is not counted', async (logic, maximum, how) => {
    const { host, actions, limiter } = await start({ maximum, logic })
    const kept = maximum > 1 ? await host.signedIn('alice') : undefined
    const lost = await host.signedIn('alice')
    if (logic === 'block') expect((await host.browser().login('alice')).status).toBe(403)
    actions.length = 0
    if (how.includes('expired')) {
      await db.client.pExpire(keyOf(lost), 1)
      await sleep(10)
    } else await db.client.del(keyOf(lost))
    expect([await limiter.sessions.count(ALICE), (await limiter.sessions.list(ALICE)).length]).toEqual(
      Array(2).fill(maximum - 1),
    )
    const newest = await host.signedIn('alice')
    expect(await statuses(kept, lost, newest)).toEqual([kept && 200, 401, 200])
    expect(actions).toEqual([])
    expect((await host.store.sessions.read(ALICE)).sessions).toHaveLength(maximum)
  })

  it('leaves its browser anonymous, with the reason, and its cookie alone', async () => {
    const { host } = await start({ maximum: 1, logic: 'block' })
    const lost = await host.signedIn('alice')
    await db.client.del(keyOf(lost))
    const id = lost.sessionId()
    for (let request = 0; request < 2; request++) {
      const answer = await lost.get('/state')
      expect(answer.json()).toMatchObject({ ended: { reason: 'missing' } })
      expect([answer.setCookies, await lost.me(), lost.sessionId()]).toEqual([[], 401, id])
    }
    expect(await db.client.exists(keyOf(lost))).toBe(0)
    expect((await lost.login('alice')).status).toBe(200)
    expect([lost.sessionId() === id, await lost.me()]).toEqual([false, 200])
  })
})

it('rule 6: when the database of the session store was flushed, everybody can sign in again, up to the limit', async () => {
  const { host, actions } = await start({ maximum: 2, logic: 'block' })
  const before: Browser[] = []
  for (const login of ['alice', 'alice', 'bob', 'bob']) before.push(await host.signedIn(login))
  await db.client.flushDb()
  expect(await statuses(...before)).toEqual([401, 401, 401, 401])
  const after: Browser[] = []
  for (const login of ['alice', 'bob', 'alice', 'bob']) after.push(await host.signedIn(login))
  expect([await statuses(...after), actions]).toEqual([[200, 200, 200, 200], []])
  expect((await host.browser().login('alice')).status).toBe(403)
})

it('rule 38: when the database of sessmgr was flushed, sessions go on, are counted, and new settings hold', async () => {
  const [{ host, limiter }, two] = [await start({ maximum: 1, logic: 'block' }), await start({ maximum: 1 })]
  const browser = await host.signedIn('alice')
  await limiter.settings.update({ maximum: 5 })
  expect((await two.limiter.settings.get()).maximum).toBe(5)
  await registry.flushDb()
  expect(await browser.me()).toBe(200)
  expect(await limiter.sessions.count(ALICE)).toBe(1)
  expect((await host.browser().login('alice')).status).toBe(403)
  await limiter.settings.update({ maximum: 7 })
  expect((await two.limiter.settings.get()).maximum).toBe(7)
})

it('the secrets of a site are the same in all processes that start at once, and after a restart', async () => {
  const clients = await Promise.all(Array.from({ length: 4 }, () => connectRedis(db.server.url)))
  const secretsOf = (client: NodeRedis) => new SiteSecrets(redisStore({ client }).options, []).all()
  const found = await Promise.all(clients.map(secretsOf))
  expect(new Set(found.flat()).size).toBe(1)
  expect(await secretsOf(db.client)).toEqual(found[0])
  for (const client of clients) client.destroy()
})

describe('the next request after a site-wide logout', () => {
  it('deletes its session and its record, writes why, and leaves no more than a note that expires', async () => {
    const [here, there] = [(await start({})).host, (await start({})).host]
    const [alice, bob] = [await here.signedIn('alice'), await here.signedIn('bob')]
    await here.limiter.sessions.logoutAllUsers(undefined, { note: 'Maintenance.' })
    // What concerns everybody is known after the first: the note about the logout, and the texts.
    expect(await bob.copy(there.origin).me()).toBe(401)
    const count = async () => Number(/total_commands_processed:(\d+)/.exec(await db.client.info('stats'))?.[1])
    const before = await count()
    expect(await alice.copy(there.origin).me()).toBe(401)
    // Read are the session and the generation, its user and the generation, and the user again to change it. Deleted is
    // the session, and written are its user and why it ended. A script counts as three commands.
    expect((await count()) - before - 1).toBeLessThanOrEqual(11)
    expect(await readUser(registry, ALICE)).toMatchObject({ s: [] })
    const left = await registry.pTTL(userKey(ALICE))
    expect([left > 0, left <= 600_000, await db.client.exists(keyOf(alice))]).toEqual([true, true, 0])
    const { ended } = (await alice.copy(here.origin).get('/state')).json() as { ended?: object }
    expect(ended).toMatchObject({ reason: 'missing', cause: { kind: 'logout_all', note: 'Maintenance.' } })
  })

  it.each([true, false])(
    'rule 16: fires once over two processes, with details for who listens (%s)',
    async (listens) => {
      const [here, there] = [await start({}), await start({})]
      const told: object[] = []
      const hear = (message: unknown) => void told.push(message as object)
      const ends = channel('sessmgr.session.ended')
      if (listens) ends.subscribe(hear)
      onTestFinished(() => void ends.unsubscribe(hear))
      const alice = await here.host.signedIn('alice')
      const [session] = await here.limiter.sessions.list(ALICE)
      await here.limiter.sessions.logoutAllUsers()
      const visits = Array.from({ length: 20 }, (_, n) => alice.copy((n % 2 ? here : there).host.origin).me())
      expect(await Promise.all(visits)).toEqual(Array(20).fill(401))
      const fired = [...here.actions, ...there.actions].filter(([name]) => name === 'sessmgr_session_invalidated')
      expect(fired).toEqual([['sessmgr_session_invalidated', ALICE, tokenOf(alice.sessionId() ?? '')]])
      expect(told).toEqual(listens ? [expect.objectContaining({ session, kind: 'logout_all' })] : [])
    },
  )

  it('waits for a replica where every end does, so that no failover repeats it', async () => {
    const { host } = await start({}, { durability: 'replica', deadlineMs: 1000 })
    const alice = await host.signedIn('alice')
    await registry.incr('sessmgr:epoch')
    // There is no replica to confirm it.
    expect([await alice.me(), await alice.me()]).toEqual([503, 401])
  })

  it('leaves a login alone that is being decided on', async () => {
    const { host, limiter } = await start({})
    const alice = await host.signedIn('alice')
    await limiter.sessions.logoutAllUsers()
    const logins = Array.from({ length: 3 }, () => host.browser())
    await Promise.all([alice.me(), ...logins.map((browser) => browser.login('alice'))])
    expect((await statuses(...logins)).filter((status) => status === 200)).toHaveLength(1)
    expect(await limiter.sessions.count(ALICE)).toBe(1)
  })
})
