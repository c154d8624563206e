import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CliWorld, startCliWorld } from '../../support/cli.ts'

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
afterAll(() => world.close())

it('rule 28: sessmgr uninstall removes every key of its own, after a yes, and never one of the application', async () => {
  const { limiter } = world.host
  const alice = await world.host.signedIn('alice')
  await world.host.signedIn('bob')
  await limiter.sessions.logoutAllUsers()
  const bob = await world.host.signedIn('bob')
  await limiter.settings.update({ maximum: 4 })
  await limiter.passwords.create(1, 'script')
  const neighbours = { 'sess:of:somebody': 'else', sessmgr: 'no prefix', 'sessmgr-other:x': '1', 'my:sessmgr:x': '1' }
  for (const [key, value] of Object.entries(neighbours)) await world.client.set(key, value)
  const own = (keys: string[]) => keys.filter((key) => key.startsWith('sessmgr:')).sort()

  const before = await world.everything()
  expect(own(Object.keys(before)).length).toBeGreaterThanOrEqual(5)
  const asked = await world.run('uninstall')
  expect([asked.code, asked.out, asked.err.endsWith('Pass --yes to confirm.\n')]).toEqual([1, '', true])
  expect(await world.everything()).toEqual(before)

  const { code, out, err } = await world.run('uninstall', '--yes')
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^Removed\./)
  const after = await world.everything()
  expect(own(Object.keys(after))).toEqual([])
  const others = Object.entries(before).filter(([key]) => !key.startsWith('sessmgr:'))
  expect(after).toEqual(Object.fromEntries(others))
  expect(Object.keys(after)).toContain(`sess:${bob.sessionId()}`)
  // A session of the application that the limit had made stale was the application's to keep, too.
  expect(Object.keys(after)).toContain(`sess:${alice.sessionId()}`)
  expect((await world.run('settings', 'get', 'maximum')).out).toBe('1\n')
})
