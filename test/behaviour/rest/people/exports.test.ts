import { once } from 'node:events'
import { type IncomingMessage, get as open } from 'node:http'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Host } from '../../../../src/index.ts'
import { forThisFile } from '../../../support/for-this-file.ts'
import { registerSession } from '../../../support/register-session.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { createRestUsers, type RestUser, restHostOf } from '../../../support/rest-users.ts'
import { AGENTS } from '../../../support/user-agents.ts'

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z/g
const staff = createRestUsers()

describe('an export', () => {
  let name = 'Alice'
  let isHanging = false
  const users = {
    ...restHostOf(staff).users,
    findById: (id: number) => (isHanging ? new Promise(() => {}) : staff.find((user) => user.id === id)),
    summary: ({ id, login }: RestUser) => ({ id, login, display_name: name }),
  }
  const host = forThisFile(() => startRestHost({ host: { users } as Partial<Host>, sessmgr: { deadlineMs: 100 } }))
  const headers = forThisFile(() => host.scriptOf('admin'))
  const call = (path: string, method = 'GET') => host.call(method, `/sessmgr/v1${path}`, { headers })
  const json = async (path: string) => (await call(path)).json
  beforeEach(async () => {
    for (const { id } of host.users) await host.limiter.sessions.endAll(id)
    name = 'Alice'
  })

  it('of the people is CSV, and as JSON the same as the list', async () => {
    await host.signIn('alice', AGENTS.linux)
    const { status, headers: sent, text } = await call('/people/export')
    expect(status).toBe(200)
    expect(sent).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'cache-control': 'no-store',
      'content-disposition': 'attachment; filename="people.csv"',
    })
    const head =
      'id,login,display_name,email,sessions,maximum,over,computers,phones,tablets,tvs,programs,unknown,' +
      'last_seen,signed_in,ip,place,places'
    expect(text.replaceAll(TIME, 'T')).toBe(`${head}\r\n2,alice,Alice,,1,5,false,1,0,0,0,0,0,T,T,127.0.0.1,,1\r\n`)
    // unit/routes/routes.test.ts asks every cell that could be a formula.
    name = '=HYPERLINK("http://evil.test")'
    expect((await call('/people/export')).text).toContain(`,"'=HYPERLINK(""http://evil.test"")",`)
    const file = await call('/people/export?format=json')
    expect(file.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(file.json).toEqual((await json('/people')).people)
    expect(file.json[0].user.display_name).toBe(name)
  })

  it('has those who are shown, its head or an empty list if there is nobody, and nothing for HEAD', async () => {
    expect((await call('/people/export')).text).toMatch(/^id,login,[\w,]*,places\r\n$/)
    expect(await json('/people/export?format=json')).toEqual([])
    for (const login of ['alice', 'bob', 'bob']) await host.signIn(login)
    await host.limiter.settings.update({ maximum: 1 })
    const shown = await json('/people/export?format=json&show=over_limit&sort=most')
    await host.limiter.settings.reset()
    expect(shown.map(({ live }: { live: number }) => live)).toEqual([2])
    for (const path of ['/people/export', '/sessions/export?user=alice']) {
      const { status, text } = await call(path, 'HEAD')
      expect([status, text]).toEqual([200, ''])
    }
  })

  it("of a user's sessions is CSV or JSON, without raw session ids", async () => {
    const { sessionId, token } = await host.signIn('alice', AGENTS.windows)
    await registerSession(host, 2, { userAgent: '=cmd|calc', ip: '203.0.113.1' })
    const { text } = await call('/sessions/export?user=alice')
    const [, one, two, ...end] = text.split('\r\n')
    expect([one, two, end]).toEqual([expect.stringContaining(token), expect.stringContaining(",'=cmd|calc"), ['']])
    expect(one).toContain(',Chrome 120 on Windows,')
    expect(text).not.toContain(sessionId)
    expect(await json('/sessions/export?user=alice&format=json')).toEqual((await json('/sessions?user=alice')).sessions)
    expect((await json('/sessions/export?user=nobody')).code).toBe('user_not_found')
    expect((await json('/sessions/export')).code).toBe('missing_identifier')
    expect((await json('/sessions/export?user=alice&format=pdf')).code).toBe('rest_invalid_param')
  })

  it('has not begun when its first page fails', async () => {
    const failing = vi.spyOn(host.registry.people, 'page').mockRejectedValue(new Error('no store'))
    onTestFinished(() => failing.mockRestore())
    const { status, headers } = await call('/people/export')
    expect([status, headers['content-disposition']]).toEqual([500, undefined])
    host.logs.length = 0
  })

  it('shows users whom the application never finds by their id, as all lists do, and logs the function once', async () => {
    await host.signIn('alice')
    isHanging = true
    onTestFinished(() => {
      isHanging = false
    })
    const shown = { id: 2, login: '2', display_name: '' }
    expect((await json('/people')).people).toMatchObject([{ user: shown }])
    expect(await json('/people/export?format=json')).toMatchObject([{ user: shown }])
    const { events } = await json('/audit?type=session.started&limit=1')
    expect(events).toMatchObject([{ user: { id: 2 } }])
    expect(host.logs).toEqual([
      [expect.stringContaining('host.users.findById() failed'), expect.anything()],
      [expect.stringContaining('host.users.findById() did not respond')],
    ])
  })
})

it('rule 60: a slow export ends with the page under way for one who has lost the password, session or right', async () => {
  // hosts/downloads.check.ts asks how often it is checked, and hosts/held-admin-call.test.ts every loss.
  const [START, COUNT, DORA] = [1000, 300, 5]
  let looked = 0
  let late = 0
  const mayLogins = new Set(['dora', 'carol'])
  const users = {
    ...restHostOf(staff).users,
    findById(id: number | string): RestUser {
      if (Number(id) >= START) looked += 1
      const known = staff.find((user) => user.id === Number(id))
      return known ?? { id: Number(id), login: `user${id}`, role: 'subscriber' }
    },
    // So long that three pages do not fit into what a connection buffers.
    summary: ({ id, login }: RestUser) => ({ id, login, display_name: id < START ? login : 'x'.repeat(80_000) }),
  }
  const can = (user: unknown) => mayLogins.has((user as RestUser).login)
  const host = await startRestHost({ host: { users, can } as Partial<Host> })
  onTestFinished(() => host.close())
  const people = Array.from({ length: COUNT }, (_, index) => ({ userId: START + index, at: Date.now(), live: 1 }))
  for (const { userId } of people) await registerSession(host, userId)
  await host.registry.people.note(people)
  const start = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => start + late)
  onTestFinished(() => clock.mockRestore())

  const { token, headers } = await host.signIn('dora')
  const revoke = async () => {
    for (const { id } of await host.limiter.passwords.list(DORA)) await host.limiter.passwords.revoke(DORA, id)
  }
  const losses: [lost: string, carried: Record<string, string>, lose: () => unknown][] = [
    ['nothing', { ...headers }, () => {}],
    ['application password', await host.scriptOf('dora'), revoke],
    ['session', { ...headers }, () => host.limiter.sessions.end(DORA, token)],
    ['right', await host.scriptOf('carol'), () => void mayLogins.delete('carol')],
  ]
  for (const [lost, carried, lose] of losses) {
    looked = 0
    late = 0
    const url = `${host.origin}/api/sessmgr/v1/people/export`
    const [answer] = (await once(open(url, { agent: false, headers: carried }), 'response')) as [IncomingMessage]
    answer.on('error', () => {})
    let seen = -1
    const isStill = () => {
      const before = seen
      seen = looked
      return before === seen
    }
    await expect.poll(isStill, { timeout: 20_000, interval: 100 }).toBe(true)
    expect([answer.statusCode, looked < COUNT], lost).toEqual([200, true])
    const before = looked
    await lose()
    late = 2000
    answer.resume()
    await new Promise((resolve) => answer.once('close', resolve))
    expect([answer.complete, looked], lost).toEqual(lost === 'nothing' ? [true, COUNT] : [false, before])
  }
})
