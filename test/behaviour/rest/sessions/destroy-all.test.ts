import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore, type SessmgrStore } from '../../../../src/index.ts'
import { createGate } from '../../../support/gates.ts'
import { type RestHost, type SignedIn, startRestHost } from '../../../support/rest-host.ts'

async function start(store: SessmgrStore = memoryStore()): Promise<RestHost> {
  const host = await startRestHost({ sessmgr: { store } })
  onTestFinished(() => host.close())
  return host
}

const destroyAll = (host: RestHost, headers: object, json?: object) =>
  host.call('POST', '/sessmgr/v1/sessions/destroy-all', { headers: { ...headers }, json })
const signedIn = (host: RestHost, ...all: SignedIn[]) => Promise.all(all.map(host.isSignedIn))

describe('POST /sessions/destroy-all', () => {
  it("logs everybody out but the caller's own session, and fires sessmgr_logout_all_users with the epoch", async () => {
    const host = await start()
    const [own, other, alice] = [await host.signIn('admin'), await host.signIn('admin'), await host.signIn('alice')]
    const answer = await destroyAll(host, own.headers)
    expect([answer.status, answer.json]).toEqual([200, { success: true, epoch: expect.any(Number), durable: false }])
    const { epoch } = answer.json
    expect(Number.isInteger(epoch) && Math.abs(epoch - Date.now() / 1000) < 5).toBe(true)
    expect(host.actions).toEqual([['sessmgr_logout_all_users', epoch]])
    expect(await signedIn(host, own, other, alice)).toEqual([true, false, false])
    const ended = [other, alice].map(({ token }) => ['sessmgr_session_invalidated', expect.anything(), token])
    expect(host.actions.slice(1)).toEqual(expect.arrayContaining(ended))
    expect(await host.limiter.sessions.count(1)).toBe(1)
    expect((await host.call('GET', '/sessmgr/v1/settings', { headers: own.headers })).status).toBe(200)
    expect(await signedIn(host, own, await host.signIn('alice')), 'a login after it').toEqual([true, true])
  })

  it("keeps the caller's session each time, and not through the call of somebody else or a script", async () => {
    const host = await start()
    const [admin, dora] = [await host.signIn('admin'), await host.signIn('dora')]
    const script = await host.scriptOf('admin')
    // A session with a nonce counts before an application password.
    for (const headers of [admin.headers, { ...admin.headers, ...script }]) {
      expect((await destroyAll(host, headers)).status).toBe(200)
      expect(await signedIn(host, admin, dora)).toEqual([true, false])
    }
    const again = await host.signIn('dora')
    await destroyAll(host, again.headers)
    expect(await signedIn(host, admin, again)).toEqual([false, true])
    expect((await destroyAll(host, script, { keep: 'admin', epoch: 0, user: 'alice' })).status).toBe(200)
    expect(await signedIn(host, again)).toEqual([false])
  })
})

describe('while other calls are under way', () => {
  it("the caller's own session survives its parallel requests and a double click, however they fall", async () => {
    const host = await start()
    for (let round = 0; round < 10; round++) {
      const admin = await host.signIn('admin')
      const clicks = Array.from({ length: (round % 3) + 1 }, () => destroyAll(host, admin.headers))
      const others = Array.from({ length: 8 }, () => host.isSignedIn(admin))
      const [answers, seen] = await Promise.all([Promise.all(clicks), Promise.all(others)])
      // The first call does not end the session of the second.
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(seen).not.toContain(false)
      expect(await host.isSignedIn(admin)).toBe(true)
      await host.limiter.sessions.end(1, admin.token)
    }
    expect(host.actions.filter(([name]) => name === 'sessmgr_session_invalidated')).toEqual([])
  })

  it("the caller's own session survives when a slow second click finds the first one done", async () => {
    const { store, hold } = heldStore()
    const host = await start(store)
    const admin = await host.signIn('admin')
    // The first time is when the request's session is loaded.
    const second = hold('useOf', admin.token, 1)
    const late = destroyAll(host, admin.headers)
    await second.arrived
    expect((await destroyAll(host, admin.headers)).status).toBe(200)
    second.open()
    expect((await late).status).toBe(200)
    expect(await host.isSignedIn(admin)).toBe(true)
  })

  it('rule 78: of two administrators at once, one stays and gets 200, the other gets 401', async () => {
    const host = await start()
    const count = 10
    for (let round = 0; round < count; round++) {
      const both = [await host.signIn('admin'), await host.signIn('dora')]
      const statuses = (await Promise.all(both.map((one) => destroyAll(host, one.headers)))).map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([200, 401])
      expect(await signedIn(host, ...both)).toEqual(statuses.map((status) => status === 200))
      for (const id of [1, 5]) await host.limiter.sessions.endAll(id)
    }
    expect(host.actions.filter(([name]) => name === 'sessmgr_logout_all_users')).toHaveLength(count)
  })

  it('rule 78: the call that is overtaken changes nothing', async () => {
    const { store, hold } = heldStore()
    const host = await start(store)
    const [admin, dora] = [await host.signIn('admin'), await host.signIn('dora')]
    const advance = hold('advance')
    const late = destroyAll(host, admin.headers)
    await advance.arrived
    expect((await destroyAll(host, dora.headers)).status).toBe(200)
    const alice = await host.signIn('alice')
    const before = await store.epoch.current()
    advance.open()
    expect(await late).toMatchObject({ status: 401, json: { code: 'session_ended', data: { status: 401 } } })
    expect(await store.epoch.current()).toEqual(before)
    expect(await signedIn(host, admin, dora, alice)).toEqual([false, true, true])
  })
})

type Method = (...args: unknown[]) => Promise<unknown>

/** A store of which a test holds the next call of a method, for one session where it says so, after some that pass. */
function heldStore() {
  const store = memoryStore()
  function hold(start: 'advance' | 'useOf', token?: string, passing = 0) {
    const gate = createGate()
    const owner = (start === 'advance' ? store.epoch : store.sessions) as unknown as Record<string, Method>
    const names = Object.getOwnPropertyNames(Object.getPrototypeOf(owner)).filter((name) => name.startsWith(start))
    let left = passing
    for (const name of names) {
      const original = owner[name] as Method
      owner[name] = async (...args) => {
        if ((token !== undefined && args[1] !== token) || left-- > 0) return original.apply(owner, args)
        for (const held of names) delete owner[held]
        await gate.pass()
        return original.apply(owner, args)
      }
    }
    return gate
  }
  return { store, hold }
}
