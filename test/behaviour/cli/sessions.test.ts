import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import { type CliWorld, startCliWorld } from '../../support/cli.ts'

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
beforeEach(async () => {
  for (const id of [2, 3]) await world.host.limiter.sessions.endAll(id)
  world.actions()
})
afterAll(() => world.close())

const token = (browser: Browser) => tokenOf(browser.sessionId() ?? '')
/** What the command line logs of a session that an administrator ended. */
const endedByAdmin = (userId: number, ended: string) => ({
  hook: 'sessmgr_session_ended',
  args: [expect.objectContaining({ userId, token: ended }), { kind: 'admin', at: expect.any(Number) }],
})
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

describe('rule 28: sessmgr sessions list', () => {
  it('shows the live sessions of a user in a table, oldest first, by token', async () => {
    const [laptop, phone] = [await world.host.signedIn('alice'), await world.host.signedIn('alice')]
    await world.host.signedIn('bob')
    const { code, out, err } = await world.run('sessions', 'list', 'alice')
    expect([code, err]).toEqual([0, ''])
    const [head, first = '', second = '', ...rest] = out.split('\n')
    expect(head?.split(/ +/)).toEqual(['TOKEN', 'CREATED', 'LAST_SEEN', 'EXPIRES', 'IP', 'USER_AGENT'])
    expect([first.split(/ +/)[0], second.split(/ +/)[0], rest]).toEqual([token(laptop), token(phone), ['']])
    for (const time of first.split(/ +/).slice(1, 4)) expect(time).toMatch(TIME)
    expect(first).toContain('127.0.0.1')
    expect(out).not.toContain(laptop.sessionId())
    expect(world.actions()).toEqual([])
  })

  it.each(['2', 'alice', 'ALICE', 'alice@example.test', ' alice '])('finds the user by %j', async (user) => {
    const laptop = await world.host.signedIn('alice')
    expect((await world.run('sessions', 'list', user, '--format', 'ids')).out).toBe(`${token(laptop)}\n`)
  })

  it('rule 49: takes the user for what --by says, and for nothing else', async () => {
    const laptop = await world.host.signedIn('alice')
    for (const [user, kind] of [
      ['alice', 'login'],
      ['2', 'id'],
      ['alice@example.test', 'email'],
    ] as const) {
      const { out } = await world.run('sessions', 'list', user, '--by', kind, '--format', 'ids')
      expect(out).toBe(`${token(laptop)}\n`)
    }
    const { code, err } = await world.run('sessions', 'list', 'alice', '--by', 'id')
    expect([code, err]).toEqual([1, 'There is no user "alice".\n'])
    expect((await world.run('sessions', 'list', 'alice', '--by', 'name')).code).toBe(2)
  })

  it('writes JSON that a script can read, csv and ids', async () => {
    const browsers = [await world.host.signedIn('alice'), await world.host.signedIn('alice')]
    const tokens = browsers.map(token)
    const json = JSON.parse((await world.run('sessions', 'list', 'alice', '--format', 'json')).out)
    expect(json).toEqual(
      tokens.map((token) => ({
        token,
        created: expect.stringMatching(TIME),
        last_seen: expect.stringMatching(TIME),
        expires: expect.stringMatching(TIME),
        ip: '127.0.0.1',
        user_agent: expect.any(String),
      })),
    )
    const csv = (await world.run('sessions', 'list', 'alice', '--format=csv')).out.split('\n')
    expect(csv[0]).toBe('token,created,last_seen,expires,ip,user_agent')
    expect(csv.slice(1, 3).map((line) => line.split(',')[0])).toEqual(tokens)
    expect((await world.run('sessions', 'list', 'alice', '--format', 'ids')).out).toBe(`${tokens.join(' ')}\n`)
  })

  it('says that there is none in words, and in the other formats with nothing', async () => {
    expect(await world.run('sessions', 'list', 'alice')).toEqual({
      code: 0,
      out: 'alice has no live sessions.\n',
      err: '',
    })
    expect((await world.run('sessions', 'list', 'alice', '--format', 'json')).out).toBe('[]\n')
    expect((await world.run('sessions', 'list', 'alice', '--format', 'ids')).out).toBe('\n')
  })

  it('refuses an unknown format with 2, with and without sessions', async () => {
    expect((await world.run('sessions', 'list', 'alice', '--format', 'xml')).code).toBe(2)
    await world.host.signedIn('alice')
    const { code, out, err } = await world.run('sessions', 'list', 'alice', '--format', 'xml')
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('table, json, csv, ids')
  })
})

describe('rule 28: sessmgr sessions count', () => {
  it('prints a number', async () => {
    expect((await world.run('sessions', 'count', 'alice')).out).toBe('0\n')
    await world.host.signedIn('alice')
    await world.host.signedIn('alice')
    expect(await world.run('sessions', 'count', '2')).toEqual({ code: 0, out: '2\n', err: '' })
  })
})

describe('rule 28: sessmgr sessions destroy', () => {
  it('ends every session of the user, and nobody else’s', async () => {
    const alice = [await world.host.signedIn('alice'), await world.host.signedIn('alice')]
    const tokens = alice.map(token)
    const bob = await world.host.signedIn('bob')
    const { code, out, err } = await world.run('sessions', 'destroy', 'alice@example.test', '--yes')
    expect([code, out, err]).toEqual([0, 'Ended 2 sessions of alice.\n', ''])
    expect(await Promise.all([...alice, bob].map((browser) => browser.me()))).toEqual([401, 401, 200])
    expect(world.actions()).toEqual([
      { hook: 'sessmgr_destroy_all_sessions', args: [2] },
      ...tokens.map((ended) => endedByAdmin(2, ended)),
    ])
  })

  it('succeeds with no session', async () => {
    expect(await world.run('sessions', 'destroy', 'bob', '--yes')).toMatchObject({
      code: 0,
      out: 'Ended 0 sessions of bob.\n',
    })
    expect(world.actions()).toEqual([{ hook: 'sessmgr_destroy_all_sessions', args: [3] }])
  })

  it.each([['--token', 'T'], ['--token=T']])('with %s ends that one session', async (...given) => {
    const [laptop, phone] = [await world.host.signedIn('alice'), await world.host.signedIn('alice')]
    const ended = token(laptop)
    const args = given.map((arg) => arg.replace('T', ended))
    expect(await world.run('sessions', 'destroy', 'alice', ...args, '--yes')).toEqual({
      code: 0,
      out: 'Ended 1 session of alice.\n',
      err: '',
    })
    expect([await laptop.me(), await phone.me()]).toEqual([401, 200])
    expect(world.actions()).toEqual([{ hook: 'sessmgr_destroy_session', args: [2, ended] }, endedByAdmin(2, ended)])
  })

  it.each([
    ['--token'],
    ['--yes', '--token'],
    ['--token='],
    ['--token', ''],
    ['--token', ' '],
    ['--token', '--yes'],
    ['--token=--yes'],
    ['--token', 'abc'],
    ['--token', '*'],
    ['--token', 'A'.repeat(64)],
    ['--token', 'a'.repeat(63)],
    [`--token=${'a'.repeat(64)}`, `--token=${'b'.repeat(64)}`],
  ])('refuses %s %s with 2 and destroys nothing', async (...args) => {
    const alice = [await world.host.signedIn('alice'), await world.host.signedIn('alice')]
    const before = await world.everything()
    const { code, out, err } = await world.run(
      'sessions',
      'destroy',
      'alice',
      ...args,
      ...(args.includes('--yes') ? [] : ['--yes']),
    )
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/--token/)
    expect(await world.everything()).toEqual(before)
    expect(await Promise.all(alice.map((browser) => browser.me()))).toEqual([200, 200])
    expect(world.actions()).toEqual([])
  })

  it('answers 1 for a token that is not one of the user’s, and destroys nothing', async () => {
    const [alice, bob] = [await world.host.signedIn('alice'), await world.host.signedIn('bob')]
    for (const other of [token(bob), 'a'.repeat(64)]) {
      const { code, err } = await world.run('sessions', 'destroy', 'alice', '--token', other, '--yes')
      expect([code, err]).toEqual([1, 'alice has no session with this token.\n'])
    }
    expect([await alice.me(), await bob.me()]).toEqual([200, 200])
    expect(world.actions()).toEqual([])
  })
})

describe('rule 28: sessmgr sessions destroy-all', () => {
  it('logs everybody out and exempts nobody', async () => {
    const browsers = [await world.host.signedIn('alice'), await world.host.signedIn('bob')]
    const { code, out, err } = await world.run('sessions', 'destroy-all', '--yes')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^All users are logged out as of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\./)
    expect(await Promise.all(browsers.map((browser) => browser.me()))).toEqual([401, 401])
    const [action, ...more] = world.actions()
    expect([action?.hook, more]).toEqual(['sessmgr_logout_all_users', []])
    expect(Math.abs(Number(action?.args[0]) - Date.now() / 1000)).toBeLessThan(10)
  })
})

describe('rule 28: what destroys asks first', () => {
  it.each([
    ['sessions', 'destroy', 'alice'],
    ['sessions', 'destroy', 'alice', '--token', 'a'.repeat(64)],
    ['sessions', 'destroy-all'],
  ])('%s %s: 1 where nobody can answer, and nothing is changed', async (...args) => {
    const alice = await world.host.signedIn('alice')
    const before = await world.everything()
    const { code, out, err } = await world.run(...args)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/\? Nothing was changed, because this is not a terminal\. Pass --yes to confirm\.\n$/)
    expect(await world.everything()).toEqual(before)
    expect(await alice.me()).toBe(200)
    expect(world.actions()).toEqual([])
  })
})

describe('rule 28: a user who does not exist', () => {
  it.each([
    ['sessions', 'list', 'nobody'],
    ['sessions', 'count', '99'],
    ['sessions', 'destroy', 'nobody@example.test', '--yes'],
    ['sessions', 'destroy', '0x2', '--yes'],
  ])('%s %s %s: 1', async (...args) => {
    const alice = await world.host.signedIn('alice')
    const { code, out, err } = await world.run(...args)
    expect([code, out, err]).toEqual([1, '', `There is no user "${args[2]}".\n`])
    expect(await alice.me()).toBe(200)
  })
})
