import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AuditPage, type AuditSink, memorySink, sqlSink } from '../../../src/audit.ts'
import { auditEvent } from '../../support/audit-events.ts'
import { ownFolder } from '../../support/own-folder.ts'
import { type RestHost, type RestHostOptions, type SignedIn, startRestHost } from '../../support/rest-host.ts'
import { AGENTS } from '../../support/user-agents.ts'

const PATH = '/sessmgr/v1/audit'

async function start(options: RestHostOptions = {}) {
  const host = await startRestHost(options)
  onTestFinished(() => host.close())
  const admin = await host.signIn('admin', AGENTS.windows)
  return { host, admin }
}

function newFolder(): string {
  const folder = ownFolder()
  return folder
}

const read = async (host: RestHost, { headers }: SignedIn, query = '') =>
  host.call('GET', `${PATH}${query}`, { headers })

const typesOf = ({ json }: { json: { events: { type: string; kind?: string }[] } }) =>
  json.events.map(({ type, kind }) => (kind === undefined ? type : `${type} ${kind}`))

describe('GET /audit', () => {
  it('lists logins, refusals, ends, changed settings and the site-wide logout, newest first', async () => {
    const { host, admin } = await start({ sessmgr: { settings: { maximum: 1, logic: 'block' } } })
    const alice = await host.signIn('alice')
    await expect(host.signIn('alice')).rejects.toThrow('could not sign in')
    await host.call('POST', '/sessmgr/v1/settings', { headers: admin.headers, json: { logic: 'allow' } })
    const second = await host.signIn('alice')
    const { headers } = admin
    const json = { login: 'alice', token: second.token }
    await host.call('POST', '/sessmgr/v1/sessions/destroy', { headers, json })
    await host.call('POST', '/sessmgr/v1/sessions/destroy-all', { headers })
    const answer = await read(host, admin)
    expect([answer.status, typesOf(answer)]).toEqual([
      200,
      [
        'logout.all',
        'session.ended admin',
        'session.started',
        'session.ended displaced',
        'settings.changed',
        'login.refused',
        'session.started',
        'session.started',
      ],
    ])
    const [all, byAdmin, started, displaced, changed, refused, , first] = answer.json.events
    const user = { id: 2, login: 'alice', display_name: 'ALICE' }
    const actor = { id: 1, login: 'admin', display_name: 'ADMIN' }
    expect(all).toMatchObject({ initiator: 'admin', actor, details: { epoch: expect.any(Number) } })
    expect(byAdmin).toMatchObject({ initiator: 'admin', actor, user, session: second.token })
    expect(started).toMatchObject({ initiator: 'user', user, details: { displaced: [alice.token] } })
    const details = { by_session: second.token }
    expect(displaced).toMatchObject({ initiator: 'policy', session: alice.token, details })
    expect(displaced).not.toHaveProperty('actor')
    const change = { option: 'sessmgr_settings', key: 'logic', from: 'block', to: 'allow' }
    expect(changed).toMatchObject({ initiator: 'admin', actor, details: change })
    expect(refused).toMatchObject({ initiator: 'policy', user, ip: '127.0.0.1', details: { mode: 'block', live: 1 } })
    expect(first).toMatchObject({ user: actor, device: 'Chrome on Windows', ip: '127.0.0.1' })
    expect(answer.json).toMatchObject({ kept: 'process', since: expect.any(Number) })
    for (const { sessionId } of [admin, alice, second]) expect(answer.text).not.toContain(sessionId)
  })

  it('filters by type, user and time, answers pages, and 304 to a client that has the current one', async () => {
    const { host, admin } = await start({ sessmgr: { settings: { maximum: 9 } } })
    for (const login of ['alice', 'dora']) await host.signIn(login)
    await host.limiter.settings.update({ maximum: 8 })
    expect(typesOf(await read(host, admin, '?type=settings.changed'))).toEqual(['settings.changed'])
    for (const alice of ['alice', '2', 'alice@example.test']) {
      const { json } = await read(host, admin, `?user=${alice}`)
      expect(json.events.map((one: { user: object }) => one.user)).toMatchObject([{ id: 2 }])
    }
    expect((await read(host, admin, '?user=nobody')).json.events).toEqual([])
    const { events } = (await read(host, admin)).json
    const [last, , second, first] = events.map(({ at }: { at: number }) => at)
    expect((await read(host, admin, `?from=${last + 1}`)).json.events).toEqual([])
    expect((await read(host, admin, `?to=${first}`)).json.events).toEqual([])
    const between = events.filter(({ at }: { at: number }) => at >= second)
    expect((await read(host, admin, `?from=${second}&to=${last + 1}`)).json.events).toEqual(between)

    const page = await read(host, admin, '?limit=3')
    const rest = await read(host, admin, `?limit=3&cursor=${page.json.next}`)
    expect([...page.json.events, ...rest.json.events]).toEqual(events)
    expect([page.json.events.length, 'next' in rest.json]).toEqual([3, false])
    const again = { ...admin.headers, 'if-none-match': String(page.headers.etag) }
    expect((await host.call('GET', `${PATH}?limit=3`, { headers: again })).status).toBe(304)
    await host.signIn('dora')
    expect((await host.call('GET', `${PATH}?limit=3`, { headers: again })).status).toBe(200)
  })

  it('refuses what is no value of a filter by its name, and everybody but administrators', async () => {
    const { host, admin } = await start()
    const cursors = ['cursor=%00', 'cursor=x']
    const numbers = ['limit=0', 'limit=201', 'from=yesterday', 'to=-1']
    for (const query of ['type=session.begun', ...numbers, ...cursors, 'user=alice&user=dora']) {
      const { status, json } = await read(host, admin, `?${query}`)
      const expected = [400, 'rest_invalid_param', [query.split('=', 1)[0]]]
      expect([status, json.code, Object.keys(json.data.params)], query).toEqual(expected)
    }
    expect((await read(host, await host.signIn('alice'))).status).toBe(403)
    expect((await host.call('GET', PATH)).status).toBe(401)
  })
})

describe('GET /audit/counts', () => {
  it('counts by time, and names the users who were at their limit most often, whatever the sink can count', async () => {
    for (const sink of [memorySink(), sqlSink({ path: join(newFolder(), 'audit.db') })]) {
      const settings = { maximum: 1, logic: 'allow' as const }
      const { host, admin } = await start({ sessmgr: { audit: { sink }, settings }, host: { location: () => 'Here' } })
      for (const login of ['alice', 'alice', 'alice', 'dora', 'bob', 'bob']) await host.signIn(login)
      await host.limiter.settings.update({ logic: 'block' })
      for (const login of ['bob', 'bob', 'alice']) await expect(host.signIn(login)).rejects.toThrow('could not sign in')
      await host.limiter.settings.update({ enforce: false })
      await host.signIn('dora')
      const from = Date.now() - 59_000
      const { status, json } = await read(host, admin, `/counts?from=${from}&step=60000`)
      expect(status).toBe(200)
      const [part, ...none] = json.parts
      expect([part, none]).toEqual([{ at: from, events: 17, started: 8, ended: 3, refused: 3 }, []])
      expect(json.people).toEqual(
        [
          [2, 'alice', 'ALICE', { displaced: 2, refused: 1, would_limit: 0 }],
          [3, 'bob', 'BOB', { displaced: 1, refused: 2, would_limit: 0 }],
          [5, 'dora', 'DORA', { displaced: 0, refused: 0, would_limit: 1 }],
        ].map(([id, login, display_name, counts]) => ({
          user: { id, login, display_name },
          ...(counts as object),
          addresses: 1,
          places: 1,
        })),
      )
      const most = (await read(host, admin, `/counts?from=${from}&step=60000&limit=1`)).json.people
      expect(most).toMatchObject([{ user: { login: 'alice' }, places: 1 }])
      const bob = (await read(host, admin, `/counts?from=${from}&step=60000&user=bob&type=login.refused`)).json
      expect([bob.parts, bob.people]).toMatchObject([[{ events: 2 }], [{ user: { login: 'bob' }, displaced: 0 }]])
      const later = (await read(host, admin, `/counts?from=${from + 120_000}&to=${from + 180_000}&step=60000`)).json
      expect(later).toMatchObject({ parts: [], people: [], kept: sink.local ? 'process' : 'sink' })
    }
  })

  it('of a sink that can only read, it counts the latest 10,000 events, and says since when', async () => {
    const sink = memorySink({ limit: 20_000 })
    const now = Date.now()
    const events = Array.from({ length: 12_000 }, (_, n) =>
      auditEvent(now - 12_000 + n, { type: 'login.refused', user: 2 }),
    )
    await sink.write(events)
    const { host, admin } = await start({ sessmgr: { audit: { sink } } })
    const { json } = await read(host, admin, `/counts?from=${now - 20_000}&to=${now}&step=20000`)
    expect([json.parts[0].refused, json.since]).toEqual([10_000, now - 10_000])
    const summary = await host.call('GET', '/sessmgr/v1/people/summary', admin)
    expect(summary.json).toMatchObject({ refused_24h: null })
  })

  it('refuses a period that is none, and more than a thousand parts of it, by name', async () => {
    const { host, admin } = await start()
    for (const [query, name] of [
      ['step=60000', 'from'],
      ['from=0', 'step'],
      ['from=0&step=0', 'step'],
      ['from=0&step=60000', 'step'],
      ['from=2&to=1&step=60000', 'to'],
    ] as const) {
      const { status, json } = await read(host, admin, `/counts?${query}`)
      expect([status, json.code, Object.keys(json.data.params)], query).toEqual([400, 'rest_invalid_param', [name]])
    }
  })
})

it('the address of an event selects it, whatever the sink knows of addresses, and is shown with its place', async () => {
  for (const sink of [
    memorySink(),
    sqlSink({ path: join(newFolder(), 'audit.db') }),
    ignoringAddresses(memorySink()),
  ]) {
    const location = (ip: string) => (ip === '127.0.0.1' ? 'Here' : undefined)
    const { host, admin } = await start({ sessmgr: { audit: { sink } }, host: { location } })
    const { json } = await read(host, admin, '?ip=127.0.0.1')
    expect(json.events).toMatchObject([{ ip: '127.0.0.1', place: 'Here' }])
    for (const other of ['127.0.0.2', '127_0.0.1', '%25', '127.0.0.1%22']) {
      expect((await read(host, admin, `?ip=${other}`)).json.events, other).toEqual([])
    }
    expect((await read(host, admin, '?ip=')).json.events).toHaveLength(1)
  }
})

function ignoringAddresses(sink: AuditSink): AuditSink {
  return { ...sink, read: async ({ ip: _, ...query }) => (await sink.read?.(query)) as AuditPage }
}
