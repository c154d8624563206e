import { describe, expect, it, onTestFinished } from 'vitest'
import { type RestHost, type SignedIn, startRestHost } from '../../../support/rest-host.ts'

async function start(): Promise<RestHost> {
  const host = await startRestHost()
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

  it('rule 78: of two administrators at once, one stays and gets 200, the other gets 401', async () => {
    const host = await start()
    const count = 10
    for (let round = 0; round < count; round++) {
      const both = [await host.signIn('admin'), await host.signIn('dora')]
      const answers = await Promise.all(both.map((one) => destroyAll(host, one.headers)))
      const statuses = answers.map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([200, 401])
      expect(answers.find(({ status }) => status === 401)?.json.code).toMatch(/^(session_ended|rest_forbidden)$/)
      expect(await signedIn(host, ...both)).toEqual(statuses.map((status) => status === 200))
      for (const id of [1, 5]) await host.limiter.sessions.endAll(id)
    }
    expect(host.actions.filter(([name]) => name === 'sessmgr_logout_all_users')).toHaveLength(count)
  })
})
