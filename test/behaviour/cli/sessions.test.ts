import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import { type CliWorld, startCliWorld } from '../../support/cli.ts'

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
beforeEach(async () => {
  await world.host.limiter.settings.update({ maximum: 5, logic: 'allow', idle_release: 0, enforce: true })
  for (const id of [2, 3]) await world.host.limiter.sessions.endAll(id)
  world.actions()
})
afterAll(() => world.close())

const done = (out: string) => ({ code: 0, out, err: '' })
const token = (browser: Browser) => tokenOf(browser.sessionId() ?? '')
const signIn = async (...logins: string[]) => {
  const browsers: Browser[] = []
  for (const login of logins) browsers.push(await world.host.signedIn(login))
  return browsers
}
const statuses = (browsers: readonly Browser[]) => Promise.all(browsers.map((browser) => browser.me()))
/** What the command line logs of a session that an administrator ended. */
const endedByAdmin = (userId: number, ended: string) => ({
  hook: 'sessmgr_session_ended',
  args: [expect.objectContaining({ userId, token: ended }), { kind: 'admin', at: expect.any(Number) }],
})
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

describe('rule 28: sessmgr sessions list and count', () => {
  it('show the live sessions of a user, oldest first, by token, or that there is none', async () => {
    expect(await world.run('sessions', 'list', 'alice')).toEqual(done('alice has no live sessions.\n'))
    expect(await world.run('sessions', 'list', 'alice', '--format', 'json')).toEqual(done('[]\n'))
    expect(await world.run('sessions', 'list', 'alice', '--format', 'ids')).toEqual(done('\n'))
    expect((await world.run('sessions', 'list', 'alice', '--format', 'xml')).code).toBe(2)
    const browsers = await signIn('alice', 'alice', 'bob')
    const tokens = browsers.slice(0, 2).map(token)
    const { code, out, err } = await world.run('sessions', 'list', 'alice')
    expect([code, err]).toEqual([0, ''])
    const [head, first = '', second = '', ...rest] = out.split('\n')
    expect(head?.split(/ +/)).toEqual(
      'TOKEN CREATED LAST_SEEN EXPIRES IP USER_AGENT LABEL COUNTS ACTOR BOUND'.split(' '),
    )
    expect([first.split(/ +/)[0], second.split(/ +/)[0], rest]).toEqual([...tokens, ['']])
    expect(out).not.toContain(browsers[0]?.sessionId())
    const json = JSON.parse((await world.run('sessions', 'list', 'alice', '--format', 'json')).out)
    const [created, last_seen, expires] = Array.from({ length: 3 }, () => expect.stringMatching(TIME))
    const row = {
      created,
      last_seen,
      expires,
      ip: '127.0.0.1',
      user_agent: expect.any(String),
      label: null,
      counts: true,
      actor: null,
      bound: false,
    }
    expect(json).toEqual(tokens.map((token) => ({ token, ...row })))
    expect(await world.run('sessions', 'list', 'alice', '--format', 'ids')).toEqual(done(`${tokens.join(' ')}\n`))
    expect(await world.run('sessions', 'count', '2')).toEqual(done('2\n'))
    expect(world.actions()).toEqual([])
  })

  it('rule 49: take the user for what --by says, and for nothing else', async () => {
    const [laptop] = (await signIn('alice')) as [Browser]
    for (const [user, kind] of [
      ['alice', 'login'],
      ['2', 'id'],
      ['alice@example.test', 'email'],
    ] as const) {
      const { out } = await world.run('sessions', 'list', user, '--by', kind, '--format', 'ids')
      expect(out, kind).toBe(`${token(laptop)}\n`)
    }
    const { code, err } = await world.run('sessions', 'list', 'alice', '--by', 'id')
    expect([code, err]).toEqual([1, 'There is no user "alice".\n'])
    expect((await world.run('sessions', 'list', 'alice', '--by', 'name')).code).toBe(2)
  })
})

describe('rule 28: sessmgr sessions destroy and destroy-all', () => {
  it('end every session of the user as an administrator does, and nobody else’s', async () => {
    const browsers = await signIn('alice', 'alice', 'bob')
    const destroyed = await world.run('sessions', 'destroy', 'alice@example.test', '--yes')
    expect(destroyed).toEqual(done('Ended 2 sessions of alice.\n'))
    expect(await statuses(browsers)).toEqual([401, 401, 200])
    expect(world.actions()).toEqual([
      { hook: 'sessmgr_destroy_all_sessions', args: [2] },
      ...browsers.slice(0, 2).map((browser) => endedByAdmin(2, token(browser))),
    ])
    expect(await world.run('sessions', 'destroy', 'alice', '--yes')).toEqual(done('Ended 0 sessions of alice.\n'))
  })

  it('end one session with --token, and none for a token that is not one of the user’s: 1', async () => {
    const browsers = await signIn('alice', 'alice', 'bob')
    const [ended = '', , ofBob = ''] = browsers.map(token)
    for (const other of [ofBob, 'a'.repeat(64)]) {
      const { code, err } = await world.run('sessions', 'destroy', 'alice', '--token', other, '--yes')
      expect([code, err]).toEqual([1, 'alice has no session with this token.\n'])
    }
    expect([await statuses(browsers), world.actions()]).toEqual([[200, 200, 200], []])
    const one = await world.run('sessions', 'destroy', 'alice', `--token=${ended}`, '--yes')
    expect(one).toEqual(done('Ended 1 session of alice.\n'))
    expect(await statuses(browsers)).toEqual([401, 200, 200])
    expect(world.actions()).toEqual([{ hook: 'sessmgr_destroy_session', args: [2, ended] }, endedByAdmin(2, ended)])
  })

  it('refuse a --token that is none with 2, and destroy nothing', async () => {
    const browsers = await signIn('alice', 'alice')
    const before = await world.everything()
    for (const args of [
      ['--yes', '--token'],
      ['--yes', '--token='],
      ['--yes', '--token', ' '],
      ['--token', '--yes'],
      ['--token=--yes', '--yes'],
      ['--yes', '--token', '*'],
      ['--yes', '--token', 'A'.repeat(64)],
      ['--yes', '--token', 'a'.repeat(63)],
      ['--yes', `--token=${'a'.repeat(64)}`, `--token=${'b'.repeat(64)}`],
    ]) {
      const { code, out, err } = await world.run('sessions', 'destroy', 'alice', ...args)
      expect([code, out, err], args.join(' ')).toEqual([2, '', expect.stringContaining('--token')])
    }
    expect(await world.everything()).toEqual(before)
    expect([await statuses(browsers), world.actions()]).toEqual([[200, 200], []])
  })

  it('log everybody out, and exempt nobody', async () => {
    const browsers = await signIn('alice', 'bob')
    const { code, out, err } = await world.run('sessions', 'destroy-all', '--yes')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^All users are logged out as of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\./)
    expect(await statuses(browsers)).toEqual([401, 401])
    const [action, ...more] = world.actions()
    expect([action?.hook, more]).toEqual(['sessmgr_logout_all_users', []])
    expect(Math.abs(Number(action?.args[0]) - Date.now() / 1000)).toBeLessThan(10)
  })

  it('ask first, and change nothing where nobody can answer: 1', async () => {
    const browsers = await signIn('alice')
    const before = await world.everything()
    for (const args of [['destroy', 'alice'], ['destroy', 'alice', '--token', 'a'.repeat(64)], ['destroy-all']]) {
      const { code, out, err } = await world.run('sessions', ...args)
      expect([code, out]).toEqual([1, ''])
      expect(err).toMatch(/\? Nothing was changed, because this is not a terminal\. Pass --yes to confirm\.\n$/)
    }
    expect(await world.everything()).toEqual(before)
    expect([await statuses(browsers), world.actions()]).toEqual([[200], []])
  })
})

describe('rule 28: sessmgr explain', () => {
  const lines = async (...args: string[]) => {
    const { code, out, err } = await world.run('explain', 'alice', ...args)
    expect([code, err]).toEqual([0, ''])
    return out.trimEnd().split('\n')
  }

  it('tells what the limit does with the next login, and changes nothing', async () => {
    const { limiter } = world.host
    await limiter.settings.update({ maximum: 2, logic: 'logout_oldest' })
    await signIn('alice', 'alice')
    const [oldest, youngest] = await limiter.sessions.list(2)
    const [first, second, head, ...rows] = await lines()
    expect([first, second]).toEqual([
      'alice may have 2 sessions (from the settings) and has 2. The mode is logout_oldest.',
      'The next login from a new browser is admitted, and ends 1 session.',
    ])
    expect(head?.split(/ +/)).toEqual([
      'TOKEN',
      'CREATED',
      'LAST_SEEN',
      'EXPIRES',
      'LABEL',
      'COUNTS',
      'IDLE',
      'WOULD_END',
      'DEVICE',
    ])
    expect(rows.map((row) => row.split(/ +/)[0])).toEqual([oldest?.token, youngest?.token])
    const json = JSON.parse((await lines('--format', 'json')).join('\n'))
    expect(json).toMatchObject({ maximum: 2, from: 'settings', enforced: true, next_login: 'ends' })
    expect(json.sessions).toMatchObject([
      { token: oldest?.token, would_end: true },
      { token: youngest?.token, would_end: false },
    ])
    expect((await lines('--mode', 'ask', '--maximum', '1')).slice(0, 2)).toEqual([
      'alice may have 1 session (as given) and has 2. The mode is ask.',
      'The next login from a new browser is held until the user chooses 2 sessions to end.',
    ])
    await limiter.settings.update({ idle_release: 3600, max_age: 43_200 })
    expect(await lines()).toContain('A session ends 43200 seconds after its login.')
    await limiter.settings.update({ max_age: 0 })
    const room = new Date((oldest?.lastSeenAt ?? 0) + 3_600_999).toISOString().slice(0, 19)
    expect((await lines('--mode', 'block')).slice(1, 3)).toEqual([
      'The next login from a new browser is refused.',
      `There will be room at ${room}Z if the sessions stay unused until then.`,
    ])
    await limiter.settings.update({ enforce: false })
    expect((await lines('--maximum', '3')).slice(1, 3)).toEqual([
      'The limit is not enforced.',
      'The next login from a new browser would be admitted.',
    ])
    expect(await limiter.sessions.count(2)).toBe(2)
  })

  it('refuses what cannot be assumed: 1 for a mode that there is not, 2 for a maximum that is none', async () => {
    const mode = await world.run('explain', 'alice', '--mode', 'bloc')
    expect([mode.code, mode.err]).toEqual([1, expect.stringContaining('"mode" must be')])
    for (const value of ['0', 'many']) {
      const { code, err } = await world.run('explain', 'alice', '--maximum', value)
      expect([code, err]).toEqual([2, `--maximum must be a whole number, 1 or more; got "${value}".\n`])
    }
  })
})

it('rule 63: sessmgr users erase removes all of a user, once it is confirmed; one who is gone only by id', async () => {
  const { passwords, sessions } = world.host.limiter
  await signIn('alice')
  for (const id of [2, 77]) await passwords.create(id, 'script')
  const asked = await world.run('users', 'erase', 'alice')
  expect([asked.code, asked.err]).toEqual([1, expect.stringContaining('Pass --yes to confirm.')])
  expect(await sessions.count(2)).toBe(1)
  const { code, out, err } = await world.run('users', 'erase', 'alice', '--yes')
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('Erased alice: 1 session, 1 application password.')
  expect(out).toContain('its processes keep their latest events in memory until they restart.')
  expect([await sessions.count(2), await passwords.list(2)]).toEqual([0, []])
  const named = await world.run('users', 'erase', '77', '--yes')
  expect([named.code, named.err]).toEqual([1, expect.stringContaining('--by id')])
  const gone = await world.run('users', 'erase', '77', '--by', 'id', '--yes')
  expect([gone.code, await passwords.list(77)]).toEqual([0, []])
  expect(gone.out).toContain('Erased the id "77": 0 sessions, 1 application password.')
})
