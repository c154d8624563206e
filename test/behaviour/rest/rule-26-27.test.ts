import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { basic } from '../../support/rest-client.ts'
import { startRestHost } from '../../support/rest-host.ts'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 1, logic: 'block' } } }))
beforeEach(async () => {
  for (const id of [1, 2]) await host.limiter.sessions.endAll(id)
})

const SETTINGS = '/sessmgr/v1/settings'

describe('rule 26: no answer to an administrator is kept by anybody', () => {
  // The authorisation matrix shows the same of every route.
  it('nor to somebody with a wrong password', async () => {
    const answer = await host.call('GET', SETTINGS, { headers: basic('admin', 'wrong') })
    expect([answer.status, answer.headers['cache-control']]).toEqual([401, 'no-store'])
  })

  it.each([
    ['GET', '/sessmgr/v1/nothing', 404],
    ['DELETE', '/sessmgr/v1/addons', 405],
  ] as const)('%s %s, which is refused', async (method, path, status) => {
    const answer = await host.call(method, path)
    expect([answer.status, answer.headers['cache-control']]).toEqual([status, 'no-store'])
  })
})

describe('rule 27: an application password', () => {
  it('opens the REST routes to its user, by login or e-mail, blanks or none', async () => {
    const { password } = await host.limiter.passwords.create(1, 'script')
    for (const name of ['admin', 'ADMIN', 'admin@example.test', 'Admin@Example.test']) {
      for (const given of [password, password.replaceAll(' ', ''), ` ${password}`]) {
        expect((await host.call('GET', SETTINGS, { headers: basic(name, given) })).status, name).toBe(200)
      }
    }
  })

  it('makes no session, sets no cookie, and is never counted', async () => {
    const headers = await host.scriptOf('admin')
    const before = host.sessionStore.everWritten.size
    for (let call = 0; call < 5; call++) {
      const answer = await host.call('GET', SETTINGS, { headers })
      expect(answer.status).toBe(200)
      expect(answer.headers['set-cookie']).toBeUndefined()
      expect(answer.headers['x-host-nonce']).toBeUndefined()
    }
    expect(host.sessionStore.everWritten.size).toBe(before)
    expect(await host.limiter.sessions.count(1)).toBe(0)
    // One session is the most, in mode block: the calls have taken no slot.
    expect(await host.isSignedIn(await host.signIn('admin'))).toBe(true)
  })

  it('opens nothing but the REST routes', async () => {
    const headers = await host.scriptOf('admin')
    expect((await host.send('GET', '/me', { headers })).text).toBe('nobody')
    expect((await host.send('GET', '/nonce', { headers })).text).toBe('')
  })

  it('does what its user may do, and no more', async () => {
    const answer = await host.call('GET', SETTINGS, { headers: await host.scriptOf('carol') })
    expect([answer.status, answer.json.code]).toEqual([403, 'rest_forbidden'])
  })

  it('stops at once when it is revoked; another one of the user goes on', async () => {
    const [one, two] = [await host.limiter.passwords.create(1, 'one'), await host.limiter.passwords.create(1, 'two')]
    const status = async (password: string) =>
      (await host.call('GET', SETTINGS, { headers: basic('admin', password) })).status
    expect([await status(one.password), await status(two.password)]).toEqual([200, 200])
    await host.limiter.passwords.revoke(1, one.id)
    expect([await status(one.password), await status(two.password)]).toEqual([401, 200])
  })

  it('counts for nothing beside a session and a nonce, so that a gate with a password shuts nobody out', async () => {
    const admin = await host.signIn('admin')
    for (const gate of [basic('admin', 'wrong'), basic('staging', 'gate'), await host.scriptOf('carol')]) {
      expect((await host.call('GET', SETTINGS, { headers: { ...admin.headers, ...gate } })).status).toBe(200)
    }
    const script = await host.scriptOf('admin')
    const alice = await host.signIn('alice')
    const calls = [
      { ...alice.headers, ...script },
      { cookie: alice.cookie, 'x-host-nonce': 'wrong', ...script },
    ].map((headers) => host.call('GET', SETTINGS, { headers }))
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([403, 403])
  })

  it('is what counts where the session or the nonce is missing', async () => {
    const script = await host.scriptOf('admin')
    const { cookie } = await host.signIn('alice')
    for (const rest of [{ cookie }, { 'x-host-nonce': 'wrong' }]) {
      expect((await host.call('GET', SETTINGS, { headers: { ...rest, ...script } })).status).toBe(200)
    }
  })

  it('is refused with one answer, whether its user is unknown, has none, or it is wrong', async () => {
    await host.scriptOf('admin')
    const answers = []
    for (const name of ['nobody', 'nobody@example.test', 'bob', 'admin', '1']) {
      const { status, text, headers } = await host.call('GET', SETTINGS, { headers: basic(name, 'A1b2 C3d4 E5f6') })
      const { date: _date, ...rest } = headers
      answers.push(JSON.stringify([status, text, rest]))
    }
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toMatch(/^\[401,/)
  })

  it('is not the password that its user logs in with, nor any other secret of his', async () => {
    const { id } = await host.limiter.passwords.create(1, 'script')
    const admin = await host.signIn('admin')
    for (const secret of ['secret', 'admin-password', id, admin.sessionId, admin.token, admin.nonce, '']) {
      expect((await host.call('GET', SETTINGS, { headers: basic('admin', secret) })).status).toBe(401)
    }
  })
})
