import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore, type SessmgrStore } from '../../../src/index.ts'
import { postgresStore } from '../../../src/postgres.ts'
import { redisStore } from '../../../src/redis.ts'
import { sqliteStore } from '../../../src/sqlite.ts'
import { createGate } from '../../support/gates.ts'
import { startPostgres } from '../../support/postgres-server.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { startRedis } from '../../support/redis-server.ts'
import { type RestHost, type SignedIn, startRestHost } from '../../support/rest-host.ts'

const PATH = '/sessmgr/v1/sessions/destroy-all'

async function start(store: SessmgrStore = memoryStore()): Promise<RestHost> {
  const host = await startRestHost({ sessmgr: { store } })
  onTestFinished(() => host.close())
  return host
}

const destroyAll = (host: RestHost, { headers }: Pick<SignedIn, 'headers'>) => host.call('POST', PATH, { headers })
const signedIn = (host: RestHost, all: readonly SignedIn[]) => Promise.all(all.map((one) => host.isSignedIn(one)))

describe('POST /sessions/destroy-all', () => {
  it('answers success and the logout epoch in Unix seconds, and fires sessmgr_logout_all_users with it, alone', async () => {
    const host = await start()
    const admin = await host.signIn('admin')
    await host.signIn('alice')
    const answer = await destroyAll(host, admin)
    expect([answer.status, answer.json]).toEqual([200, { success: true, epoch: expect.any(Number), durable: false }])
    expect(Math.abs(answer.json.epoch - Date.now() / 1000)).toBeLessThan(5)
    expect(Number.isInteger(answer.json.epoch)).toBe(true)
    expect(host.actions).toEqual([['sessmgr_logout_all_users', answer.json.epoch]])
  })

  it("logs everybody out but the caller's own session: not even his other sessions stay", async () => {
    const host = await start()
    const all = [await host.signIn('admin'), await host.signIn('admin'), await host.signIn('alice')]
    const [own] = all
    if (!own) throw new Error('nobody is signed in')
    await destroyAll(host, own)
    expect(await signedIn(host, all)).toEqual([true, false, false])
    expect(host.actions.slice(1)).toEqual(
      expect.arrayContaining(
        all.slice(1).map(({ token }) => ['sessmgr_session_invalidated', expect.anything(), token]),
      ),
    )
    expect(await host.limiter.sessions.count(1)).toBe(1)
    expect((await host.call('GET', '/sessmgr/v1/settings', { headers: own.headers })).status).toBe(200)
  })

  it("keeps the caller's session through one call after the other, and not through that of somebody else", async () => {
    const host = await start()
    const [admin, dora] = [await host.signIn('admin'), await host.signIn('dora')]
    for (let call = 0; call < 3; call++) expect((await destroyAll(host, admin)).status).toBe(200)
    expect(await signedIn(host, [admin, dora])).toEqual([true, false])
    const again = await host.signIn('dora')
    await destroyAll(host, again)
    expect(await signedIn(host, [admin, again])).toEqual([false, true])
  })

  it('exempts nobody when the caller has an application password, not even his own sessions', async () => {
    const host = await start()
    const all = [await host.signIn('admin'), await host.signIn('alice')]
    const headers = await host.scriptOf('admin')
    expect((await host.call('POST', PATH, { headers })).status).toBe(200)
    expect(await signedIn(host, all)).toEqual([false, false])
    expect((await host.call('POST', PATH, { headers })).status).toBe(200)
  })

  it('spares the session of a caller with cookie and nonce also behind a gate that asks for a password', async () => {
    const host = await start()
    const admin = await host.signIn('admin')
    const headers = { ...admin.headers, ...(await host.scriptOf('admin')) }
    expect((await host.call('POST', PATH, { headers })).status).toBe(200)
    expect(await host.isSignedIn(admin)).toBe(true)
  })

  it('takes an empty object, or anything in one, for no parameters', async () => {
    const host = await start()
    const headers = await host.scriptOf('admin')
    for (const json of [{}, { keep: 'alice', epoch: 0, user: 'alice' }]) {
      expect((await host.call('POST', PATH, { headers, json })).status).toBe(200)
    }
  })

  it('leaves a login after it alone', async () => {
    const host = await start()
    const admin = await host.signIn('admin')
    await destroyAll(host, admin)
    const alice = await host.signIn('alice')
    expect(await signedIn(host, [admin, alice])).toEqual([true, true])
  })
})

describe("while other requests of the caller's own session are under way", () => {
  it('the session survives, however they fall', async () => {
    const host = await start()
    for (let round = 0; round < 25; round++) {
      const admin = await host.signIn('admin')
      const others = Array.from({ length: 12 }, () => host.isSignedIn(admin))
      const [answer, ...seen] = await Promise.all([destroyAll(host, admin), ...others])
      expect(answer.status).toBe(200)
      expect(seen).not.toContain(false)
      expect(await host.isSignedIn(admin)).toBe(true)
      await host.limiter.sessions.end(1, admin.token)
    }
    expect(host.actions.filter(([name]) => name === 'sessmgr_session_invalidated')).toEqual([])
  })

  it('the session survives two calls at once, as by a double click', async () => {
    const host = await start()
    for (let round = 0; round < 25; round++) {
      const admin = await host.signIn('admin')
      const answers = await Promise.all([destroyAll(host, admin), destroyAll(host, admin), destroyAll(host, admin)])
      // The first call does not end the session of the second.
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(await host.isSignedIn(admin)).toBe(true)
      await host.limiter.sessions.end(1, admin.token)
    }
  })

  it('the session survives when a slow second click finds the first one done', async () => {
    const { store, hold } = heldStore()
    const host = await start(store)
    const admin = await host.signIn('admin')
    // The first time is when the request's session is loaded.
    const second = hold('useOf', admin.token, 1)
    const late = destroyAll(host, admin)
    await second.arrived
    expect((await destroyAll(host, admin)).status).toBe(200)
    second.open()
    expect((await late).status).toBe(200)
    expect(await host.isSignedIn(admin)).toBe(true)
  })
})

describe('on Redis', () => {
  it("the caller's session survives parallel requests and a double click, and nobody else's does", async () => {
    const host = await start(await storeOf('Redis'))
    for (let round = 0; round < 10; round++) {
      const [admin, other] = [await host.signIn('admin'), await host.signIn('admin')]
      const others = Array.from({ length: 6 }, () => host.isSignedIn(admin))
      const [first, second, ...seen] = await Promise.all([destroyAll(host, admin), destroyAll(host, admin), ...others])
      expect([first.status, second.status]).toEqual([200, 200])
      expect(seen).not.toContain(false)
      expect(await signedIn(host, [admin, other])).toEqual([true, false])
      await host.limiter.sessions.endAll(1)
    }
  })
})

describe('with two administrators at once', () => {
  it.each(['memory', 'SQLite', 'PostgreSQL', 'Redis'])(
    'rule 78: over %s, one stays and gets 200, the other gets 401',
    async (kind) => {
      const host = await start(await storeOf(kind))
      for (let round = 0; round < 100; round++) {
        const both = [await host.signIn('admin'), await host.signIn('dora')]
        const statuses = (await Promise.all(both.map((one) => destroyAll(host, one)))).map(({ status }) => status)
        expect(statuses.toSorted()).toEqual([200, 401])
        expect(await signedIn(host, both)).toEqual(statuses.map((status) => status === 200))
        for (const id of [1, 5]) await host.limiter.sessions.endAll(id)
      }
      expect(host.actions.filter(([name]) => name === 'sessmgr_logout_all_users')).toHaveLength(100)
    },
  )

  it('rule 78: the call that is overtaken changes nothing', async () => {
    const { store, hold } = heldStore()
    const host = await start(store)
    const [admin, dora] = [await host.signIn('admin'), await host.signIn('dora')]
    const advance = hold('advance')
    const late = destroyAll(host, admin)
    await advance.arrived
    expect((await destroyAll(host, dora)).status).toBe(200)
    const alice = await host.signIn('alice')
    const before = await store.epoch.current()
    advance.open()
    expect(await late).toMatchObject({ status: 401, json: { code: 'session_ended', data: { status: 401 } } })
    expect(await store.epoch.current()).toEqual(before)
    expect(await signedIn(host, [admin, dora, alice])).toEqual([false, true, true])
  })
})

async function storeOf(kind: string): Promise<SessmgrStore> {
  if (kind === 'memory') return memoryStore()
  if (kind === 'SQLite') {
    const folder = mkdtempSync(join(tmpdir(), 'sessmgr-destroy-all-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    return sqliteStore({ path: join(folder, 'sessmgr.db') })
  }
  if (kind === 'PostgreSQL') {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    return postgresStore({ pool: server.pool(), createTable: true })
  }
  const redis = await startRedis()
  const client = await connectRedis(redis.url)
  onTestFinished(async () => {
    client.destroy()
    await redis.stop()
  })
  return redisStore({ client })
}

type Method = (...args: unknown[]) => Promise<unknown>

/** A store of which a test holds the next call of a method, for one session where it says so, after some that pass. */
function heldStore() {
  const store = memoryStore()
  function hold(start: 'advance' | 'useOf', token?: string, passing = 0) {
    const gate = createGate()
    const owner = (start === 'advance' ? store.epoch : store.sessions) as unknown as Record<string, Method>
    const names = Object.getOwnPropertyNames(Object.getPrototypeOf(owner)).filter((name) => name.startsWith(start))
    const release = () => {
      for (const name of names) delete owner[name]
    }
    let left = passing
    for (const name of names) {
      const original = owner[name] as Method
      owner[name] = async (...args) => {
        if ((token !== undefined && args[1] !== token) || left-- > 0) return original.apply(owner, args)
        release()
        await gate.pass()
        return original.apply(owner, args)
      }
    }
    return gate
  }
  return { store, hold }
}
