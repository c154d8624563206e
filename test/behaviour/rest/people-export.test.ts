import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Host } from '../../../src/index.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { registerSession } from '../../support/register-session.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'
import { AGENTS } from '../../support/user-agents.ts'

const HOSTILE = [
  '=HYPERLINK("http://evil.test")',
  '+1',
  '-1+2',
  '@SUM(A1)',
  '\tx',
  '\rx',
  'a,b',
  'say "hi"',
  'two\r\nlines',
  'a;b',
]
let name = 'Alice'
const users = {
  ...restHostOf(createRestUsers()).users,
  summary: ({ id, login }: { id: number; login: string }) => ({ id, login, display_name: name }),
}
const host = forThisFile(() => startRestHost({ host: { users } as Partial<Host>, sessmgr: { directory: true } }))
const headers = forThisFile(() => host.scriptOf('admin'))
const get = (path: string) => host.call('GET', `/sessmgr/v1${path}`, { headers })

beforeEach(async () => {
  for (const { id } of host.users) await host.limiter.sessions.endAll(id)
})

/** Reads CSV according to RFC 4180. */
function parse(text: string): string[][] {
  const cells = [...text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)]
  expect(cells.map(([all]) => all).join('')).toBe(text)
  const rows: string[][] = [[]]
  for (const [, cell = '', end] of cells) {
    rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}

describe('GET /people/export', () => {
  it('sends the people as CSV', async () => {
    name = 'Alice'
    await host.signIn('alice', AGENTS.linux)
    const { status, headers: sent, text } = await get('/people/export')
    expect([status, sent['content-type'], sent['cache-control'], sent['content-disposition']]).toEqual([
      200,
      'text/csv; charset=utf-8',
      'no-store',
      'attachment; filename="people.csv"',
    ])
    const [head = [], row = [], ...others] = parse(text)
    expect(others).toEqual([])
    expect(Object.fromEntries(head.map((column, index) => [column, row[index]]))).toEqual({
      id: '2',
      login: 'alice',
      display_name: 'Alice',
      email: '',
      sessions: '1',
      maximum: '5',
      over: 'false',
      computers: '1',
      phones: '0',
      tablets: '0',
      tvs: '0',
      programs: '0',
      unknown: '0',
      last_seen: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
      signed_in: expect.stringMatching(/Z$/),
      ip: '127.0.0.1',
      place: '',
      places: '1',
    })
  })

  it.each(HOSTILE)('sends the name %j as a text, and as it is in JSON', async (hostile) => {
    name = hostile
    await host.signIn('alice')
    const [, row = []] = parse((await get('/people/export')).text)
    expect(row[2]).toBe(/^[=+\-@\t\r]/.test(hostile) ? `'${hostile}` : hostile)
    const { text, headers: sent } = await get('/people/export?format=json')
    expect(sent['content-type']).toBe('application/json; charset=utf-8')
    expect(JSON.parse(text)).toEqual((await get('/people')).json.people)
    expect(JSON.parse(text)[0].user.display_name).toBe(hostile)
  })

  it('sends the head of the table, or an empty list, if there is nobody', async () => {
    expect(parse((await get('/people/export')).text)).toEqual([expect.arrayContaining(['id', 'login', 'place'])])
    expect((await get('/people/export?format=json')).json).toEqual([])
  })

  it('sends only those who are shown', async () => {
    for (const login of ['alice', 'bob', 'bob']) await host.signIn(login)
    await host.limiter.settings.update({ maximum: 1 })
    const { json } = await get('/people/export?format=json&show=over_limit&sort=most')
    await host.limiter.settings.reset()
    expect(json.map(({ live }: { live: number }) => live)).toEqual([2])
  })
})

describe('GET /sessions/export', () => {
  it("sends a user's sessions as CSV and JSON, without raw session ids", async () => {
    const { sessionId, token } = await host.signIn('alice', AGENTS.windows)
    await registerSession(host, 2, { userAgent: '=cmd|calc', ip: '203.0.113.1' })
    const { text } = await get('/sessions/export?user=alice')
    const [head = [], ...rows] = parse(text)
    expect(rows).toHaveLength(2)
    expect(rows[0]?.[head.indexOf('token')]).toBe(token)
    expect(rows[0]?.[head.indexOf('device')]).toBe('Chrome 120 on Windows')
    expect(rows[1]?.[head.indexOf('user_agent')]).toBe("'=cmd|calc")
    expect(text).not.toContain(sessionId)
    const { json } = await get('/sessions/export?user=alice&format=json')
    expect(json).toEqual((await get('/sessions?user=alice')).json.sessions)
  })

  it('refuses an unknown user, none, and an unknown format', async () => {
    expect((await get('/sessions/export?user=nobody')).json.code).toBe('user_not_found')
    expect((await get('/sessions/export')).json.code).toBe('missing_identifier')
    expect((await get('/sessions/export?user=alice&format=pdf')).json.code).toBe('rest_invalid_param')
  })
})

describe('users whom the application never finds', () => {
  it('are shown by their id in all lists, and the function is logged once', async () => {
    let isHanging = false
    const { findById, ...others } = restHostOf(createRestUsers()).users
    const hanging = {
      ...others,
      findById: (id: number) => (isHanging ? new Promise(() => {}) : findById(id)),
    }
    const host = await startRestHost({
      host: { users: hanging } as Partial<Host>,
      sessmgr: { directory: true, deadlineMs: 50 },
    })
    onTestFinished(() => host.close())
    const headers = await host.scriptOf('admin')
    await host.signIn('alice')
    host.logs.length = 0
    isHanging = true
    const get = async (path: string) => (await host.call('GET', `/sessmgr/v1${path}`, { headers })).json
    const shown = { id: 2, login: '2', display_name: '' }
    expect((await get('/people')).people).toMatchObject([{ user: shown }])
    expect(await get('/people/export?format=json')).toMatchObject([{ user: shown }])
    expect((await get('/audit?type=session.started')).events.map(({ user }: { user: object }) => user)).toEqual([
      { id: 2 },
    ])
    expect(host.logs).toEqual([
      [expect.stringContaining('host.users.findById() failed'), expect.anything()],
      [expect.stringContaining('host.users.findById() did not respond')],
    ])
  })
})

it('HEAD sends no file', async () => {
  for (const path of ['/people/export', '/sessions/export?user=alice']) {
    const { status, text } = await host.call('HEAD', `/sessmgr/v1${path}`, { headers })
    expect([status, text]).toEqual([200, ''])
  }
})
