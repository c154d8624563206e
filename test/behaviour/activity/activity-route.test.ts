import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AuditPage, type AuditSink, memorySink, sqlSink } from '../../../src/audit.ts'
import { type RestHost, type RestHostOptions, type SignedIn, startRestHost } from '../../support/rest-host.ts'
import { AGENTS } from '../../support/user-agents.ts'

const PATH = '/sessmgr/v1/audit'

async function start(options: RestHostOptions = {}) {
  const host = await startRestHost(options)
  onTestFinished(() => host.close())
  const admin = await host.signIn('admin', AGENTS.windows)
  return { host, admin }
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

it('the address of an event selects it, whatever the sink knows of addresses, and is shown with its place', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const sink of [memorySink(), sqlSink({ path: join(folder, 'audit.db') }), ignoringAddresses(memorySink())]) {
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
