import { describe, expect, it, onTestFinished } from 'vitest'
import { basic } from '../../support/rest-client.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { ADMIN_ROUTES, OWN_SESSION_ROUTES } from '../../support/rest-routes.ts'

async function setUp() {
  const host = await startRestHost({ withoutHost: true })
  onTestFinished(() => host.close())
  return host
}

/** Every route asks the same host; of each method one that does most. */
const TYPICAL = ADMIN_ROUTES.filter(({ method, path }) =>
  ['GET /sessmgr/v1/openapi.json', 'POST /sessmgr/v1/users/erase', 'DELETE /sessmgr/v1/settings'].includes(
    `${method} ${path}`,
  ),
)

describe('while nobody has said who the users are', () => {
  it.each(TYPICAL)('$method $path is refused to everybody', async ({ method, path, json }) => {
    const host = await setUp()
    const { password } = await host.limiter.passwords.create(1, 'script')
    const admin = await host.signIn('admin')
    const before = await host.snapshot()
    for (const headers of [{}, admin.headers, basic('admin', password)]) {
      const answer = await host.call(method, path, { headers, json })
      expect([answer.status, answer.json]).toEqual([
        403,
        { code: 'rest_forbidden', message: expect.any(String), data: { status: 403 } },
      ])
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    }
    expect(await host.snapshot()).toEqual(before)
  })

  it('the log says once what to configure, when the first call arrives', async () => {
    const host = await setUp()
    expect(host.logs).toEqual([])
    for (let call = 0; call < 3; call++) await host.call('GET', '/sessmgr/v1/settings')
    expect(host.logs).toHaveLength(1)
    expect(host.logs[0]?.[0]).toMatch(
      /sessmgr\(\{ host: \{ users: \{ findById, findByEmail, findByLogin, summary \}, can \} \}\)/,
    )
  })

  it('users list and end their own sessions, which say no name', async () => {
    const host = await setUp()
    const [here, there] = [await host.signIn('alice', 'Laptop/1'), await host.signIn('alice', 'Phone/2')]
    const { headers } = here
    const list = await host.call('GET', '/sessmgr/v1/me/sessions', { headers })
    expect(list.json).toMatchObject({ count: 2, maximum: 5, step_up: 'none' })
    expect(list.json.sessions.map(({ token }: { token: string }) => token).toSorted()).toEqual(
      [here.token, there.token].toSorted(),
    )
    const end = (token: string) => host.call('POST', '/sessmgr/v1/me/sessions/end', { headers, json: { token } })
    expect([(await end(there.token)).json, (await end(there.token)).status]).toEqual([{ ended: true }, 404])
    const others = await host.call('POST', '/sessmgr/v1/me/sessions/end-others', { headers, json: {} })
    expect([others.status, others.json]).toEqual([200, { ended: 0 }])
    expect([await host.isSignedIn(here), await host.isSignedIn(there)]).toEqual([true, false])
    expect(host.logs).toEqual([])
  })

  it('rule 54: the routes for own sessions exist once limiter.account() has been called', async () => {
    const host = await startRestHost({ withoutHost: true, account: false })
    onTestFinished(() => host.close())
    const { headers } = await host.signIn('alice')
    const callAll = () =>
      Promise.all(OWN_SESSION_ROUTES.map(({ method, path, json }) => host.call(method, path, { headers, json })))
    const before = await callAll()
    expect(before.map(({ status }) => status)).toEqual([404, 404, 404, 404, 204])
    expect(before[0]?.json.code).toBe('rest_no_route')
    host.limiter.account()
    // There is no session with that token, and the application asks for no password.
    expect((await callAll()).map(({ status }) => status)).toEqual([200, 404, 200, 404, 204])
  })

  it.each([
    ['GET', 'sessions', undefined],
    ['POST', 'sessions/end', { token: 'f'.repeat(64) }],
    ['POST', 'sessions/end-others', {}],
  ])('a guest gets none of their own routes: %s /me/%s', async (method, path, json) => {
    const host = await setUp()
    const { cookie } = await host.signIn('alice')
    for (const headers of [{}, { cookie }]) {
      expect((await host.call(method, `/sessmgr/v1/me/${path}`, { headers, json })).status).toBe(401)
    }
    expect((await host.call('GET', '/sessmgr/v1/me/notice')).status).toBe(204)
  })

  it('the routes of the application below the same path go on', async () => {
    const host = await setUp()
    const answer = await host.call('GET', '/hello')
    expect([answer.status, answer.text]).toEqual([200, 'a route of the application'])
    expect((await host.call('GET', '/sessmgr/v10')).headers['content-type']).toMatch(/^text\/html/)
    expect(host.logs).toEqual([])
  })

  it('the limit itself works', async () => {
    const host = await setUp()
    const admin = await host.signIn('admin')
    expect(await host.limiter.sessions.count(1)).toBe(1)
    await host.limiter.sessions.endAll(1)
    expect(await host.isSignedIn(admin)).toBe(false)
  })
})
