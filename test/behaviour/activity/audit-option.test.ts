import { describe, expect, it, onTestFinished } from 'vitest'
import type { AuditEvent, AuditOptions, AuditSink } from '../../../src/audit.ts'
import { memorySink } from '../../../src/audit.ts'
import { startRestHost } from '../../support/rest-host.ts'

/** A sink that keeps what it is given, and can fail or hang. Calls that hang are cut when it becomes well. */
function testSink() {
  const events: AuditEvent[] = []
  let state: 'well' | 'failing' | 'hanging' = 'well'
  const hanging: ((error: Error) => void)[] = []
  const sink: AuditSink = {
    async write(batch) {
      if (state === 'hanging') await new Promise((_, reject) => hanging.push(reject))
      if (state === 'failing') throw new Error('The disk is full')
      events.push(...batch)
    },
  }
  const become = (next: typeof state) => {
    state = next
    for (const cut of hanging.splice(0)) cut(new Error('The connection was cut'))
  }
  return { sink, events, become, types: () => events.map(({ type }) => type) }
}

async function start(audit: AuditOptions | false, settings = {}) {
  const host = await startRestHost({ sessmgr: { settings: { maximum: 1, ...settings }, audit, deadlineMs: 100 } })
  onTestFinished(() => host.close())
  return host
}

describe('mode after', () => {
  it('goes on with a sink that fails, warns once, and writes everything later', async () => {
    const { sink, become, types } = testSink()
    become('failing')
    const host = await start({ sink })
    // Few enough for the first write to find them all.
    for (let login = 0; login < 8; login++) await host.signIn('alice')
    const { headers } = await host.signIn('admin')
    // Without read(), the list shows what this process remembers.
    const { json } = await host.call('GET', '/sessmgr/v1/audit?limit=80', { headers })
    expect([json.events.length, json.kept]).toEqual([16, 'process'])
    become('well')
    await expect
      .poll(() => host.call('GET', '/sessmgr/v1/audit', { headers }).then(types), { timeout: 20_000 })
      .toHaveLength(16)
    const warnings = host.logs.filter(([message]) => String(message).includes('audit sink'))
    expect(JSON.stringify(warnings)).toContain('The disk is full')
    expect(warnings).toHaveLength(1)
  })

  it('writes what is left when the limiter closes, once, also to a sink whose function returns no promise', async () => {
    const events: AuditEvent[] = []
    const write = ((batch: readonly AuditEvent[]) => void events.push(...batch)) as unknown as AuditSink['write']
    const host = await start({ sink: { write } })
    await host.signIn('alice')
    await host.signIn('alice')
    await host.limiter.close()
    expect(events.map(({ type }) => type)).toEqual(['session.started', 'session.ended', 'session.started'])
    expect(host.logs).toEqual([])
  })
})

describe('mode before', () => {
  it('answers a login or a refusal when it is recorded, and admits a login that cannot be, with a warning', async () => {
    const { sink, become, types } = testSink()
    const host = await start({ sink, mode: 'before' }, { logic: 'block' })
    await host.signIn('alice')
    expect(types()).toEqual(['session.started'])
    await expect(host.signIn('alice')).rejects.toThrow('could not sign in')
    expect(types()).toEqual(['session.started', 'login.refused'])
    await Promise.all(['admin', 'carol'].map((login) => host.signIn(login)))
    expect(types()).toHaveLength(4)
    become('failing')
    expect(await host.isSignedIn(await host.signIn('bob'))).toBe(true)
    expect(host.logs.filter(([message]) => String(message).includes('audit sink'))).toHaveLength(1)
  })

  it.each(['failing', 'hanging'] as const)(
    "takes back a login that a %s sink cannot record, with onFailure 'refuse'",
    async (how) => {
      const { sink, events, become } = testSink()
      const host = await start({ sink, mode: 'before', onFailure: 'refuse' })
      const started: unknown[] = []
      host.limiter.hooks.addAction('sessmgr_session_started', 'test', (session) => void started.push(session))
      become(how)
      await expect(host.signIn('alice')).rejects.toThrow('503')
      expect(await host.limiter.sessions.list(2)).toEqual([])
      expect([host.sessionStore.sessions, started]).toEqual([{}, []])
      become('well')
      await expect.poll(() => host.signIn('bob').catch(() => undefined), { timeout: 10_000 }).toBeDefined()
      // The log says what has happened to the login.
      const alice = events.filter(({ user }) => user === 2).map(({ type, kind, initiator }) => [type, kind, initiator])
      expect(alice.slice(0, 2)).toEqual([
        ['session.started', undefined, 'user'],
        ['session.ended', 'app', 'system'],
      ])
    },
  )
})

it('records networks and pseudonyms, which the list shows and finds, and deletes old events at the start', async () => {
  const sink = memorySink()
  await sink.write([{ id: 'old', at: Date.now() - 9 * 86_400_000, type: 'logout.all', initiator: 'system' }])
  const host = await start({ sink, retentionDays: 7, ip: 'truncated', identify: (id) => `u${Number(id) * 1000}` })
  const { headers } = await host.signIn('admin')
  await host.signIn('alice')
  await host.call('POST', '/sessmgr/v1/sessions/destroy', { headers, json: { id: 2 } })
  const { json } = await host.call('GET', '/sessmgr/v1/audit?user=alice', { headers })
  expect(json.events).toMatchObject([
    { type: 'session.ended', user: { id: 'u2000' }, actor: { id: 'u1000' }, ip: '127.0.0.0' },
    { type: 'session.started', user: { id: 'u2000' } },
  ])
  expect(json.events[0].user).toEqual({ id: 'u2000' })
  expect((await host.call('GET', '/sessmgr/v1/audit', { headers })).json.events).toHaveLength(3)
  expect(await sink.forget?.('u2000')).toBe(2)
})

it('records application passwords with their names and by whom, and options that are not exposed without values', async () => {
  const { sink, events } = testSink()
  const host = await start({ sink })
  const { headers } = await host.signIn('admin')
  const path = '/sessmgr/v1/application-passwords'
  const { id, password } = (await host.call('POST', path, { headers, json: { name: 'backup' } })).json
  const other = await host.limiter.passwords.create(2, 'by the application')
  for (let call = 0; call < 2; call++) {
    await host.call('DELETE', `${path}/${other.id}`, { headers, json: { user: 'alice' } })
  }
  const hashes = (await host.registry.passwords.list(1)).map(({ hash }) => hash)
  host.registry.passwords.list = () => Promise.reject(new Error('no rights'))
  expect(await host.limiter.passwords.revoke(1, id)).toBe(true)
  const schema = { safeParse: (data: never) => ({ success: true, data }) as const }
  const secret = host.limiter.options.register('addon_key', { schema, default: { key: 'a' } })
  await secret.update({ key: 'hidden' }, undefined, { by: 'admin', actor: 1 })
  await host.limiter.close()
  const own = { password_id: other.id, name: 'by the application' }
  const byAdmin = { initiator: 'admin', actor: 1 }
  const created = 'application_password.created'
  const revoked = 'application_password.revoked'
  const expected = [
    { type: created, user: 1, ...byAdmin, details: { password_id: id, name: 'backup' } },
    { type: created, user: 2, initiator: 'system', details: own },
    { type: revoked, user: 2, ...byAdmin, details: own },
    // Its name could not be read any more.
    { type: revoked, user: 1, initiator: 'system', details: { password_id: id } },
    { type: 'settings.changed', ...byAdmin, details: { option: 'addon_key', key: 'key' } },
  ]
  const given = { id: expect.any(String), at: expect.any(Number) }
  expect(events.slice(1)).toEqual(expected.map((event) => ({ ...given, ...event })))
  for (const hidden of [password, password.replaceAll(' ', ''), other.password, 'hidden', ...hashes]) {
    expect(JSON.stringify(events)).not.toContain(hidden)
  }
})

it('rule 70: false records nothing, so no route serves events, and no number of refusals is known', async () => {
  const host = await start(false, { logic: 'block' })
  await host.signIn('alice')
  await expect(host.signIn('alice')).rejects.toThrow()
  const { headers } = await host.signIn('admin')
  const { json, status } = await host.call('GET', '/sessmgr/v1/audit', { headers })
  expect([status, json.code]).toEqual([404, 'rest_no_route'])
  const summary = await host.call('GET', '/sessmgr/v1/people/summary', { headers })
  expect(summary.json).toMatchObject({ refused_24h: null })
  expect(await host.limiter.eraseUser(2)).toBeDefined()
})
