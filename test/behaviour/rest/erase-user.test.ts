import { expect, it, onTestFinished, vi } from 'vitest'
import { memorySink } from '../../../src/audit.ts'
import { startRestHost } from '../../support/rest-host.ts'

const ERASE = '/sessmgr/v1/users/erase'

async function start() {
  const sink = memorySink()
  const host = await startRestHost({ sessmgr: { audit: { sink }, directory: true } })
  onTestFinished(() => host.close())
  const { headers } = await host.signIn('admin')
  return { host, sink, headers }
}

it('rule 63: an administrator erases a user, and the activity log shows who did it, but not to whom', async () => {
  const { host, sink, headers } = await start()
  await host.signIn('alice')
  await host.limiter.passwords.create(2, 'script of alice')
  const { status, json } = await host.call('POST', ERASE, { headers, json: { user: 'alice' } })
  expect([status, json]).toEqual([200, { success: true, sessions: 1, passwords: 1, events: expect.any(Number) }])
  expect(await host.limiter.sessions.list(2)).toEqual([])
  expect(await host.limiter.passwords.list(2)).toEqual([])
  await host.call('GET', '/sessmgr/v1/audit', { headers })
  const { events } = (await sink.read?.({ limit: 100 })) ?? { events: [] }
  expect(events[0]).toMatchObject({ type: 'user.erased', initiator: 'admin', actor: 1, details: { sessions: 1 } })
  expect(events.filter(({ user, actor }) => user === 2 || actor === 2)).toEqual([])
  expect(host.actions).toContainEqual(['sessmgr_destroy_all_sessions', 2])

  // The same id signs in later, as a new user.
  await expect(host.signIn('alice')).rejects.toThrow('503')
  await vi.waitFor(() => host.signIn('alice'), { timeout: 10_000, interval: 500 })
  await host.call('GET', '/sessmgr/v1/audit', { headers })
  expect(await host.limiter.sessions.count(2)).toBe(1)
  const after = (await sink.read?.({ limit: 100, users: [2] }))?.events ?? []
  expect(after.map(({ type }) => type)).toEqual(['session.started'])
})

it('erases an id that the application no longer knows, but no name', async () => {
  const { host, headers } = await start()
  await host.limiter.passwords.create(77, 'of a deleted user')
  const erased = await host.call('POST', ERASE, { headers, json: { id: '77' } })
  expect([erased.status, erased.json.passwords]).toEqual([200, 1])
  expect(await host.limiter.passwords.list(77)).toEqual([])
  const named = await host.call('POST', ERASE, { headers, json: { user: 'nobody' } })
  expect([named.status, named.json.code]).toEqual([404, 'user_not_found'])
})
