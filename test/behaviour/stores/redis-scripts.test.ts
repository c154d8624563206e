import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { luaText } from '../../../scripts/lua-text.mjs'
import { type SessmgrStore, tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { type RedisHost, startRedisHost } from '../../support/redis-host.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'

const FOLDER = new URL('../../../src/stores/redis/lua/', import.meta.url)

interface Script {
  readonly header: string
  readonly body: string
}

function readScript(file: string): Script {
  const text = readFileSync(new URL(file, FOLDER), 'utf8')
  const [, header = '', body = ''] = /^--\[\[\n(.*?)\n\]\]\n(.*)$/s.exec(text) ?? []
  return { header, body }
}

const numbersIn = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, number]) => Number(number)))].toSorted((a, b) => a - b)

describe('the Lua scripts', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.lua'))

  it('are there', () => expect(files).toContain('swap.lua'))

  const scripts = files.map((file) => ({ file, ...readScript(file) }))

  it('are sent without their comments and indentation, and with every other line', () => {
    for (const { file, body } of scripts) {
      const code = body.split('\n').map((line) => line.trim())
      const sent = luaText(readFileSync(new URL(file, FOLDER), 'utf8')).split('\n')
      expect(sent, file).toEqual(code.filter((line) => line !== '' && !line.startsWith('--')))
    }
  })

  it('say in their headers what they do, and what they return', () => {
    for (const { file, header } of scripts) {
      expect(header.split('\n')[0], file).toMatch(/^[A-Z].*\.$/)
      expect(header, file).toMatch(/^Returns {2}\S/m)
    }
  })

  it('work on the keys that their headers name: one, except the index of people', () => {
    for (const { file, header, body } of scripts) {
      const used = numbersIn(body, /KEYS\[(\d+)/g)
      expect(numbersIn(header, /^KEYS\[(\d+)\]/gm), file).toEqual(used)
      if (!file.startsWith('people/')) expect(used, file).toEqual([1])
    }
  })

  it('name the arguments in their headers that they use', () => {
    for (const { file, header, body } of scripts) {
      const loops = numbersIn(body, /for index = (\d+), #ARGV/g)
      const used = [...new Set([...numbersIn(body, /ARGV\[(\d+)\]/g), ...loops])].toSorted((a, b) => a - b)
      expect(numbersIn(header, /^ARGV\[(\d+)…?\]/gm), file).toEqual(used)
      expect(numbersIn(header, /^ARGV\[(\d+)…\]/gm), file).toEqual(loops)
    }
  })
})

describe('a Redis server that serves the store', () => {
  let server: RedisServer
  let client: NodeRedis
  let store: SessmgrStore

  beforeAll(async () => {
    server = await startRedis()
    client = await connectRedis(server.url)
    store = redisStore({ client })
  })
  beforeEach(async () => {
    await client.flushAll()
    await client.sendCommand(['SCRIPT', 'FLUSH'])
    await client.sendCommand(['CONFIG', 'RESETSTAT'])
  })
  afterAll(async () => {
    client.destroy()
    await server.stop()
  })

  /** How often each command was called since the last reset, those that scripts called included. */
  async function commandCounts(): Promise<Record<string, number>> {
    const lines = String(await client.info('commandstats')).matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)
    return Object.fromEntries([...lines].map(([, command, calls]) => [command, Number(calls)]))
  }

  /** Takes every way that a session can take. */
  async function useEveryScript(user: string, { sessions, epoch, options } = store): Promise<void> {
    const session = { sessionId: 'a', ttlMs: 60_000, ip: null, userAgent: null, device: null, generation: 0 }
    const read = await sessions.read(user)
    expect(await sessions.commit(user, read, { admit: session, end: [] })).toMatchObject({ committed: true })
    expect(await sessions.touch(user, tokenOf('a'), 60_000)).toBe(true)
    expect(await sessions.adopt(user, { ...session, sessionId: 'b' })).toBeDefined()
    expect(await sessions.end(user)).toHaveLength(2)
    expect((await epoch.advance())?.generation).toBeGreaterThan(0)
    await options.set('option', 1)
  }

  it('is sent the text of a script once, and its digest every time', async () => {
    const fresh = redisStore({ client })
    for (let round = 0; round < 5; round++) await useEveryScript(`user ${round}`, fresh)
    const { eval: texts = 0, evalsha: digests } = await commandCounts()
    // One more asks for the settings of the server.
    expect(texts).toBe(3)
    // A change is a read and a write. On a fast machine, one of a user begins from what the one before has written.
    expect(digests).toBeGreaterThanOrEqual(5 * 9)
    expect(digests).toBeLessThanOrEqual(5 * 13)
  })

  it('is sent the scripts again, and nobody notices, when it has forgotten them', async () => {
    await useEveryScript('alice')
    await client.sendCommand(['SCRIPT', 'FLUSH'])
    await useEveryScript('bob')
    await client.sendCommand(['SCRIPT', 'FLUSH'])
    await Promise.all(Array.from({ length: 20 }, (_, index) => useEveryScript(`parallel ${index}`)))
  })

  it('loses none of the calls that run while it forgets the scripts over and over', async () => {
    let calling = true
    const forgetting = (async () => {
      while (calling) await client.sendCommand(['SCRIPT', 'FLUSH'])
    })()
    for (let round = 0; round < 50; round++) await useEveryScript(`user ${round}`)
    calling = false
    await forgetting
  })

  describe('behind an application', () => {
    let host: RedisHost
    beforeAll(async () => {
      host = await startRedisHost({ client, settings: { maximum: 2, logic: 'logout_oldest' }, cookieMaxAge: 3_600_000 })
    })
    afterAll(() => host.close())

    it('rule 17: is never made to walk its keys', async () => {
      for (let user = 1; user <= 20; user++) {
        const browsers = [host.browser(), host.browser(), host.browser()]
        for (const browser of browsers) expect((await browser.login(`user${user}`)).status).toBe(200)
        expect(await browsers[0]?.me()).toBe(401)
        expect(await browsers[2]?.me()).toBe(200)
        await browsers[1]?.post('/logout')
        expect(await host.limiter.sessions.list(1000 + user)).toHaveLength(1)
      }
      await host.limiter.sessions.endAll(1001)
      await host.limiter.sessions.logoutAllUsers()
      await host.limiter.settings.update({ maximum: 3 })
      const counts = await commandCounts()
      expect(
        Object.keys(counts).filter((command) => /^(keys|[sz]?scan|randomkey|sort|flush\w*)$/.test(command)),
      ).toEqual([])
      expect(counts.evalsha).toBeGreaterThan(60)
    })

    it('rule 17: does as much for a site-wide logout with many sessions as with none', async () => {
      const logEverybodyOut = async () => {
        await host.limiter.sessions.logoutAllUsers()
        await client.sendCommand(['CONFIG', 'RESETSTAT'])
        await host.limiter.sessions.logoutAllUsers()
        return commandCounts()
      }
      const withNone = await logEverybodyOut()
      for (let user = 1; user <= 200; user++) await useEveryScript(`user ${user}`)
      await Promise.all(Array.from({ length: 50 }, (_, index) => host.browser().login(`user${index + 1}`)))
      expect(await logEverybodyOut()).toEqual(withNone)
    })

    it('is asked for the session alone for a request of a signed-in user, once it has told of changes, and told nothing', async () => {
      const browser = await host.signedIn('alice')
      await expect.poll(() => host.store.watch?.whyNot()).toBeUndefined()
      // Once a minute it is asked what time it is.
      const besides = (counts: object) => Object.keys(counts).filter((name) => !/^(get$|config|info|time)/.test(name))
      // The login and the first request still write after they are answered.
      await expect
        .poll(async () => {
          await client.sendCommand(['CONFIG', 'RESETSTAT'])
          for (let request = 0; request < 20; request++) expect(await browser.me()).toBe(200)
          const counts = await commandCounts()
          return [counts.get, besides(counts)]
        })
        .toEqual([20, []])
    })

    it('is asked three things in one round trip where it tells of nothing', async () => {
      const unwatched = await startRedisHost({ client, cookieMaxAge: 3_600_000, tracking: false })
      const browser = await unwatched.signedIn('bob')
      // The login still writes after it is answered. Later, it is noted once a minute that the session is in use.
      await expect
        .poll(async () => {
          await client.sendCommand(['CONFIG', 'RESETSTAT'])
          await browser.me()
          const { get, ...others } = await commandCounts()
          return [get, Object.keys(others).filter((command) => !/^(config|info)/.test(command))]
        })
        // The session, its user, the logout epoch.
        .toEqual([3, []])
      await unwatched.close()
    })
  })
})
