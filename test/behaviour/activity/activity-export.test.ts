import { expect, it, onTestFinished } from 'vitest'
import type { AuditEvent, AuditSink } from '../../../src/audit.ts'
import { exportEvents } from '../../../src/features/activity/activity-routes.ts'
import { startRestHost } from '../../support/rest-host.ts'

async function start(sink?: AuditSink) {
  const audit = sink && { sink }
  const host = await startRestHost({ sessmgr: { settings: { maximum: 1 }, audit } })
  onTestFinished(() => host.close())
  const { headers, token } = await host.signIn('admin')
  const read = (query: string, method = 'GET') => host.call(method, `/sessmgr/v1/audit/export${query}`, { headers })
  return { host, read, token }
}

const objectsOf = ({ text }: { text: string }) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

it('GET /audit/export sends events as JSON lines or CSV, selected like those of the list, with the names of users', async () => {
  const { host, read, token } = await start()
  for (const login of ['bob', 'alice', 'alice']) await host.signIn(login)
  await host.limiter.sessions.endAll(3, { note: '=HYPERLINK("http://evil.test")' })
  await host.limiter.sessions.endAll(2, { by: 'admin', actor: 1 })
  const all = await read('')
  expect([all.status, all.headers['content-type'], all.headers['content-disposition']]).toEqual([
    200,
    'application/jsonl; charset=utf-8',
    'attachment; filename="activity.jsonl"',
  ])
  expect(objectsOf(all).at(-1)).toMatchObject({ type: 'session.started', user: 1, session: token })
  expect([objectsOf(all).length, (await read('?type=logout.all')).text]).toEqual([7, ''])
  const ofAlice = objectsOf(await read('?user=alice'))
  expect(ofAlice).toHaveLength(4)
  expect(ofAlice[0]).toMatchObject({ user: 2, user_login: 'alice', user_name: 'ALICE', actor_login: 'admin' })
  expect(ofAlice.find(({ displaced_count }) => displaced_count === 1).details.displaced).toHaveLength(1)

  const lines = (await read('?format=csv')).text.trim().split('\r\n')
  expect(lines[0]).toBe(
    'at,type,user,session,initiator,actor,kind,device,ip,details,id,user_login,user_name,actor_login,displaced_count,place',
  )
  expect(lines[1]).toMatch(/,alice,ALICE,admin,,$/)
  expect(lines[2]).toMatch(
    /^\d{4}-\d\d-\d\dT[\d:.]+Z,session\.ended,3,[0-9a-f]{64},system,,app,Test 1,127\.0\.0\.1,"\{""note"":/,
  )
  // A cell has no room for the displaced sessions.
  const login = lines.find((line) => line.includes('session.started') && line.endsWith(',1,'))
  expect([login?.includes('alice'), login?.includes('displaced')]).toEqual([true, false])

  const head = await read('?format=csv', 'HEAD')
  expect([head.status, head.text, head.headers['content-type']]).toEqual([200, '', 'text/csv; charset=utf-8'])
  const { status, json } = await read('?format=xml')
  expect([status, Object.keys(json.data.params)]).toEqual([400, ['format']])
})

it('reads page by page, and cuts the file off when the sink fails in the middle or repeats a page', async () => {
  const event = (id: number): AuditEvent => ({ id: String(id), at: id, type: 'logout.all', initiator: 'system' })
  let failsAt = Number.POSITIVE_INFINITY
  const sink: AuditSink = {
    write: async () => {},
    async read({ cursor = '0' }) {
      if (Number(cursor) >= failsAt) throw new Error('gone')
      const next = Number(cursor) + 1
      return { events: [event(Number(cursor))], ...(next < 5 && { next: String(next) }) }
    },
  }
  const { read } = await start(sink)
  expect(objectsOf(await read('')).map(({ at }) => at)).toEqual([0, 1, 2, 3, 4])
  const csv = (await read('?format=csv')).text.trim().split('\r\n')
  expect([csv.length, csv.filter((line) => line.startsWith('at,type')).length]).toEqual([6, 1])
  failsAt = 3
  await expect(read('')).rejects.toThrow()
  failsAt = 0
  const { status, json } = await read('')
  expect([status, json.code]).toEqual([503, 'store_unavailable'])
  sink.read = async () => ({ events: [], next: '1' })
  await expect(read('')).rejects.toThrow()
})

it('stops reading when the reader leaves, even if no page has events', async () => {
  let reads = 0
  const read = async () => ({ events: [], next: String(++reads), since: 0 })
  const more = { usersOf: async () => (id: unknown) => ({ id }) as never, placesOf: async () => [] }
  const seen: string[] = []
  for await (const text of exportEvents({ read }, {}, 'jsonl', more)) if (seen.push(text) === 3) break
  expect([seen, reads]).toEqual([['', '', ''], 3])
})
