import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { type FiredAction, recordActions } from '../../support/record-actions.ts'
import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { type RedisHost, startRedisHost } from '../../support/redis-host.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'
import type { LimitSettings } from '../../support/whole-settings.ts'

const ALICE = 2

let server: RedisServer
/** The database of the session store. What sessmgr knows lies in another one. */
let sessions: NodeRedis
let registry: NodeRedis

beforeAll(async () => {
  server = await startRedis()
  ;[sessions, registry] = await Promise.all([connectRedis(server.url), connectRedis(`${server.url}/1`)])
})
afterAll(async () => {
  sessions.destroy()
  registry.destroy()
  await server.stop()
})
beforeEach(() => sessions.flushAll())

async function start(settings: LimitSettings): Promise<{ host: RedisHost; actions: FiredAction[] }> {
  const host = await startRedisHost({ client: registry, sessionClient: sessions, settings })
  onTestFinished(() => host.close())
  return { host, actions: recordActions(host.limiter.hooks) }
}

const keyOf = (browser: Browser) => `sess:${browser.sessionId()}`

/** The ways in which the session store loses sessions without anybody being told. */
const losses: Record<string, (...browsers: Browser[]) => Promise<unknown>> = {
  'has expired': async (...browsers) => {
    await Promise.all(browsers.map((browser) => sessions.pExpire(keyOf(browser), 1)))
    await sleep(10)
  },
  'was deleted by hand': (...browsers) => sessions.del(browsers.map(keyOf)),
}

for (const [how, lose] of Object.entries(losses)) {
  describe(`rule 6: a session whose record ${how}`, () => {
    it('blocks nobody', async () => {
      const { host, actions } = await start({ maximum: 1, logic: 'block' })
      const lost = await host.signedIn('alice')
      expect((await host.browser().login('alice')).status).toBe(403)
      await lose(lost)
      expect((await host.browser().login('alice')).status).toBe(200)
      expect(actions).toEqual([['sessmgr_login_blocked', ALICE]])
      expect((await host.store.sessions.read(ALICE)).sessions).toHaveLength(1)
    })

    it('displaces nobody', async () => {
      const { host, actions } = await start({ maximum: 2, logic: 'logout_oldest' })
      const [oldest, lost] = [await host.signedIn('alice'), await host.signedIn('alice')]
      await lose(lost)
      const newest = await host.signedIn('alice')
      expect(await Promise.all([oldest, lost, newest].map((browser) => browser.me()))).toEqual([200, 401, 200])
      expect(actions).toEqual([])
      expect((await host.store.sessions.read(ALICE)).sessions).toHaveLength(2)
    })

    it('ends nobody, where one login too many would end all', async () => {
      const { host, actions } = await start({ maximum: 2, logic: 'allow' })
      const [kept, lost] = [await host.signedIn('alice'), await host.signedIn('alice')]
      await lose(lost)
      const newest = await host.signedIn('alice')
      expect(await Promise.all([kept, lost, newest].map((browser) => browser.me()))).toEqual([200, 401, 200])
      expect(actions).toEqual([])
    })

    it('is not listed, and not counted', async () => {
      const { host } = await start({ maximum: 3, logic: 'block' })
      const [kept, lost] = [await host.signedIn('alice'), await host.signedIn('alice')]
      await lose(lost)
      expect(await host.limiter.sessions.count(ALICE)).toBe(1)
      expect(await host.limiter.sessions.list(ALICE)).toHaveLength(1)
      expect(await kept.me()).toBe(200)
    })

    it('decision 71: leaves its browser anonymous, with the reason, and its cookie alone', async () => {
      const { host } = await start({ maximum: 1, logic: 'block' })
      const lost = await host.signedIn('alice')
      await lose(lost)
      const id = lost.sessionId()
      for (let request = 0; request < 2; request++) {
        const answer = await lost.get('/state')
        expect(answer.json()).toMatchObject({ ended: { reason: 'missing' } })
        expect(answer.setCookies).toEqual([])
        expect(await lost.me()).toBe(401)
      }
      expect(lost.sessionId()).toBe(id)
      expect(await sessions.exists(keyOf(lost))).toBe(0)
      expect((await lost.login('alice')).status).toBe(200)
      expect(lost.sessionId()).not.toBe(id)
      expect(await lost.me()).toBe(200)
    })
  })
}

describe('rule 6: when the database of the session store was flushed', () => {
  for (const logic of ['allow', 'logout_oldest', 'block']) {
    it(`everybody can sign in again, in the mode ${logic}`, async () => {
      const { host, actions } = await start({ maximum: 2, logic })
      const before = await Promise.all(['alice', 'alice', 'bob', 'bob'].map((login) => host.signedIn(login)))
      await sessions.flushDb()
      for (const browser of before) expect(await browser.me()).toBe(401)
      const after: Browser[] = []
      for (const login of ['alice', 'bob', 'alice', 'bob']) after.push(await host.signedIn(login))
      for (const browser of after) expect(await browser.me()).toBe(200)
      expect(actions).toEqual([])
      expect(await host.limiter.sessions.count(ALICE)).toBe(2)
    })
  }

  it('the limit holds again from the first new session on', async () => {
    const { host } = await start({ maximum: 1, logic: 'block' })
    await host.signedIn('alice')
    await sessions.flushDb()
    await host.signedIn('alice')
    expect((await host.browser().login('alice')).status).toBe(403)
  })
})

describe('when the database of sessmgr was flushed', () => {
  it('rule 38: a session goes on as one from before sessmgr, and is counted from its next request on', async () => {
    const { host } = await start({ maximum: 1, logic: 'block' })
    const browser = await host.signedIn('alice')
    await registry.flushDb()
    expect(await browser.me()).toBe(200)
    expect(await host.limiter.sessions.count(ALICE)).toBe(1)
    expect((await host.browser().login('alice')).status).toBe(403)
  })

  it('settings that are stored anew hold in every process, also in one that knows those from before', async () => {
    const [one, two] = [await start({ maximum: 1, logic: 'allow' }), await start({ maximum: 1, logic: 'allow' })]
    await one.host.limiter.settings.update({ maximum: 5 })
    expect((await two.host.limiter.settings.get()).maximum).toBe(5)
    await registry.flushDb()
    await one.host.limiter.settings.update({ maximum: 7 })
    expect((await two.host.limiter.settings.get()).maximum).toBe(7)
  })
})
