import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CliWorld, startCliWorld } from '../../support/cli.ts'

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
afterAll(() => world.close())

it('rule 63: sessmgr users erase ends the sessions of a user and removes everything, once it is confirmed', async () => {
  await world.host.signedIn('alice')
  await world.host.limiter.passwords.create(2, 'script')
  const asked = await world.run('users', 'erase', 'alice')
  expect([asked.code, asked.err]).toEqual([1, expect.stringContaining('Pass --yes to confirm.')])
  expect(await world.host.limiter.sessions.count(2)).toBe(1)
  const { code, out, err } = await world.run('users', 'erase', 'alice', '--yes')
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('Erased alice: 1 session, 1 application password.')
  expect(await world.host.limiter.sessions.count(2)).toBe(0)
  expect(await world.host.limiter.passwords.list(2)).toEqual([])
})

it('erases a user whom the application no longer knows, but only by id', async () => {
  await world.host.limiter.passwords.create(77, 'script')
  const named = await world.run('users', 'erase', '77', '--yes')
  expect([named.code, named.err]).toEqual([1, expect.stringContaining('--by id')])
  const { code, out } = await world.run('users', 'erase', '77', '--by', 'id', '--yes')
  expect([code, out]).toEqual([0, expect.stringContaining('Erased the id "77": 0 sessions, 1 application password.')])
  expect((await world.run('users', 'erase')).code).toBe(2)
})
