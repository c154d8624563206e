import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CliWorld, startCliWorld } from '../../support/cli.ts'

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
afterAll(() => world.close())

it('rule 28: sessmgr explain tells what the limit does with the next login, and changes nothing', async () => {
  const { limiter } = world.host
  await limiter.settings.update({ maximum: 2, logic: 'logout_oldest' })
  for (let made = 0; made < 2; made++) await world.host.signedIn('alice')
  const [oldest, youngest] = await limiter.sessions.list(2)
  const lines = async (...args: string[]) => {
    const { code, out, err } = await world.run('explain', 'alice', ...args)
    expect([code, err]).toEqual([0, ''])
    return out.trimEnd().split('\n')
  }
  const [first, second, head, ...rows] = await lines()
  expect([first, second]).toEqual([
    'alice may have 2 sessions (from the settings) and has 2. The mode is logout_oldest.',
    'The next login from a new browser is admitted, and ends 1 session.',
  ])
  expect(head?.split(/ +/)).toEqual(['TOKEN', 'CREATED', 'LAST_SEEN', 'LABEL', 'IDLE', 'WOULD_END', 'DEVICE'])
  expect(rows.map((row) => row.split(/ +/)[0])).toEqual([oldest?.token, youngest?.token])
  expect(rows.map((row) => /true|false *$/.test(row))).toEqual([true, true])
  expect((await lines('--mode', 'block'))[1]).toBe('The next login from a new browser is refused.')
  expect((await lines('--mode', 'ask', '--maximum', '1')).slice(0, 2)).toEqual([
    'alice may have 1 session (as given) and has 2. The mode is ask.',
    'The next login from a new browser is held until the user chooses 2 sessions to end.',
  ])
  await limiter.settings.update({ idle_release: 3600 })
  const at = (await limiter.explain(2, { mode: 'block' })).freeAt
  expect(at).toBe((oldest?.lastSeenAt ?? 0) + 3_600_000)
  const room = `There will be room at ${new Date((at ?? 0) + 999).toISOString().slice(0, 19)}Z if the sessions stay unused until then.`
  expect((await lines('--mode', 'block'))[2]).toBe(room)
  await limiter.settings.update({ idle_release: 0, enforce: false })
  expect((await lines('--maximum', '3')).slice(1, 3)).toEqual([
    'The limit is not enforced.',
    'The next login from a new browser would be admitted.',
  ])
  expect(JSON.parse((await lines('--format', 'json')).join('\n'))).toMatchObject({
    maximum: 2,
    from: 'settings',
    enforced: false,
    next_login: 'ends',
    sessions: [
      { token: oldest?.token, would_end: true },
      { token: youngest?.token, would_end: false },
    ],
  })
  expect(await limiter.sessions.count(2)).toBe(2)
})

it('refuses what cannot be assumed', async () => {
  for (const [name, value, expected, message] of [
    ['--mode', 'bloc', 1, '"mode" must be'],
    ['--maximum', '0', 2, '--maximum must be a whole number, 1 or more; got "0"'],
    ['--maximum', 'many', 2, '--maximum must be a whole number, 1 or more; got "many"'],
  ] as const) {
    const { code, err } = await world.run('explain', 'alice', name, value)
    expect(code).toBe(expected)
    expect(err).toContain(message)
  }
})
