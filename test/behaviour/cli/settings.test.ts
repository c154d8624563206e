import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SETTING_HELP } from '../../../src/cli/commands/setting-help.ts'
import { sessmgr } from '../../../src/index.ts'
import { SETTING_NAMES } from '../../../src/options/setting-rules.ts'
import { type CliWorld, startCliWorld } from '../../support/cli.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
beforeEach(() => world.host.store.options.delete('sessmgr_settings'))
afterAll(() => world.close())

const done = (out: string, err = '') => ({ code: 0, out, err })
const settings = (...args: string[]) => world.run('settings', ...args)
const stored = async () => (await world.host.store.options.get('sessmgr_settings'))?.value

describe('rule 28: sessmgr settings', () => {
  it('--help tells what each setting is', async () => {
    for (const args of [['--help'], ['set', '--help']]) {
      const said = (await settings(...args)).out.split('\nSettings:\n')[1] ?? ''
      expect([...said.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, name]) => name)).toEqual(SETTING_NAMES)
      expect(said.replaceAll(/\s+/g, ' ')).toContain(SETTING_HELP.idle_release)
    }
  })

  it('list and get show every setting, with the defaults for what is not stored', async () => {
    await world.host.store.options.set('sessmgr_settings', { maximum: 12 })
    const rows = [
      ['KEY           VALUE  SOURCE', 'maximum       12     stored', 'logic         allow  default'],
      ['idle_release  0      default', 'max_age       0      default', 'enforce       true   default', ''],
    ]
    expect(await settings('list')).toEqual(done(rows.flat().join('\n')))
    expect(JSON.parse((await settings('list', '--format', 'json')).out)).toEqual([
      { key: 'maximum', value: 12, source: 'stored' },
      { key: 'logic', value: 'allow', source: 'default' },
      { key: 'idle_release', value: 0, source: 'default' },
      { key: 'max_age', value: 0, source: 'default' },
      { key: 'enforce', value: true, source: 'default' },
    ])
    expect(await settings('get', 'maximum')).toEqual(done('12\n'))
    expect(await settings('get', 'enforce')).toEqual(done('true\n'))
  })

  it('know no other setting: 1', async () => {
    const err = (key: string) =>
      `Unknown setting "${key}". Use one of maximum, logic, idle_release, max_age, enforce.\n`
    for (const key of ['__proto__', 'Maximum', '']) {
      for (const args of [
        ['get', key],
        ['set', key, '2'],
        ['reset', key],
      ]) {
        expect(await settings(...args)).toEqual({ code: 1, out: '', err: err(key) })
      }
    }
    expect(await stored()).toBeUndefined()
  })

  it('rule 37: set stores each value in its type, and only what it was asked to, for the application at once', async () => {
    const logger = { warn() {}, error() {} }
    const app = sessmgr({ store: world.host.store, settings: { maximum: 5, logic: 'block' }, logger })
    expect(await settings('set', 'maximum', '3')).toEqual(done('maximum is now 3.\n'))
    expect(await stored()).toEqual({ maximum: 3 })
    expect(await app.settings.get()).toEqual(wholeSettings({ maximum: 3, logic: 'block' }))
    await app.close()
    expect(await settings('set', 'idle_release', '900')).toEqual(done('idle_release is now 900.\n'))
    expect(await settings('set', 'enforce', 'false')).toEqual(done('enforce is now false.\n'))
    expect(await stored()).toEqual({ maximum: 3, idle_release: 900, enforce: false })
  })

  it('say that a maximum above the bound of an account counts as the bound, apart from the value', async () => {
    const note = 'Note: A maximum above 1000 counts as 1000.\n'
    expect(await settings('set', 'maximum', '1001')).toEqual(done('maximum is now 1001.\n', note))
    expect(await settings('get', 'maximum')).toEqual(done('1001\n', note))
    await settings('set', 'maximum', '1000')
    expect(await settings('get', 'maximum')).toEqual(done('1000\n'))
  })

  it('set refuses what the REST API refuses, names the range, and stores no default in its place: 1', async () => {
    await world.host.store.options.set('sessmgr_settings', { maximum: 4, logic: 'block' })
    const before = await world.everything()
    for (const [key, value, range] of [
      ['maximum', '-1', 'must be a whole number, 1 or more'],
      ['maximum', '', 'must be'],
      ['maximum', '1e3', 'must be a whole number, 1 or more'],
      ['maximum', '9007199254740993', 'must be at most 9007199254740991'],
      ['logic', '', 'must be'],
      ['idle_release', '15m', 'must be'],
      ['enforce', 'off', 'must be'],
    ]) {
      const { code, out, err } = await settings('set', `${key}`, `${value}`)
      expect([code, out], `${key} ${value}`).toEqual([1, ''])
      expect(err).toMatch(
        new RegExp(`^Invalid settings: ${key} ${range}.*\\. Nothing was changed\\.\nSee \\S+#invalid_setting\n$`),
      )
    }
    expect(await world.everything()).toEqual(before)
  })

  it('rule 37: reset gives a setting back to the code, one or all', async () => {
    await world.host.store.options.set('sessmgr_settings', { maximum: 3, logic: 'block' })
    expect(await settings('reset', 'logic')).toEqual(done('logic is now allow, the default.\n'))
    expect(await stored()).toEqual({ maximum: 3 })
    const all = ['maximum is now 1', 'logic is now allow', 'idle_release is now 0', 'max_age is now 0']
    all.push('enforce is now true')
    expect(await settings('reset')).toEqual(done(all.map((one) => `${one}, the default.\n`).join('')))
    expect(await stored()).toBeUndefined()
  })
})

describe('rule 28: sessmgr app-passwords', () => {
  const passwords = () => world.host.limiter.passwords
  const run = (...args: string[]) => world.run('app-passwords', ...args)
  beforeEach(async () => {
    for (const { id } of await passwords().list(1)) await passwords().revoke(1, id)
  })

  it('create shows the password once, on a line of its own, and stores its hash alone', async () => {
    const { code, out, err } = await run('create', 'admin', '--name', ' backup job ')
    expect([code, err]).toEqual([0, ''])
    const [said, password = '', ...rest] = out.split('\n')
    const [kept] = await passwords().list(1)
    const sentence = `Created the application password "backup job" for admin with the id ${kept?.id}.`
    expect([said, rest]).toEqual([`${sentence} It will not be shown again:`, ['']])
    expect(password).toMatch(/^([A-Za-z0-9]{4} ){5}[A-Za-z0-9]{4}$/)
    expect(await passwords().verify(1, password)).toBe(true)
    const everything = String(await world.client.get('sessmgr:p:1'))
    expect(everything).toContain('backup job')
    for (const secret of [password, password.replaceAll(' ', '')]) expect(everything).not.toContain(secret)
  })

  it('create wants a name: 2, and a user: 1, and creates nothing otherwise', async () => {
    for (const args of [['admin'], ['admin', '--name'], ['admin', '--name='], ['admin', '--name', ' ']]) {
      expect(await run('create', ...args)).toMatchObject({ code: 2, out: '' })
    }
    const unknown = await run('create', 'nobody', '--name', 'x')
    expect(unknown).toEqual({ code: 1, out: '', err: 'There is no user "nobody".\n' })
    expect(await passwords().list(1)).toEqual([])
  })

  it('list shows id, time and name, oldest first, and no password', async () => {
    expect(await run('list', 'admin')).toEqual(done('admin has no application passwords.\n'))
    const one = await passwords().create(1, 'one')
    // Two of the same millisecond have no order.
    while (Date.now() === one.createdAt) await nextTurn()
    const two = await passwords().create(1, 'two')
    const { out } = await run('list', '1')
    const [head, ...rows] = out.split('\n')
    expect(head?.split(/ +/)).toEqual(['ID', 'CREATED', 'NAME'])
    const lines = [one, two].map(({ id, createdAt, name }) => `${id}  ${new Date(createdAt).toISOString()}  ${name}`)
    expect(rows).toEqual([...lines, ''])
    for (const secret of [one.password, two.password]) expect(out).not.toContain(secret)
  })

  it('revoke asks first, and revokes one of this user: 1 for any other', async () => {
    const [one, two] = [await passwords().create(1, 'one'), await passwords().create(1, 'two')]
    const asked = await run('revoke', 'admin', one.id)
    expect([asked.code, asked.err]).toEqual([1, expect.stringContaining('Pass --yes to confirm.')])
    expect((await run('revoke', 'alice', one.id, '--yes')).code).toBe(1)
    expect(await passwords().verify(1, one.password)).toBe(true)
    expect(await run('revoke', 'admin', one.id, '--yes')).toEqual(done('Revoked.\n'))
    expect([await passwords().verify(1, one.password), await passwords().verify(1, two.password)]).toEqual([
      false,
      true,
    ])
    const again = await run('revoke', 'admin', one.id, '--yes')
    expect(again).toEqual({ code: 1, out: '', err: 'admin has no application password with this id.\n' })
  })
})

it('rule 28: sessmgr uninstall removes every key of its own, after a yes, and never one of the application', async () => {
  const { limiter } = world.host
  const [, bob] = [await world.host.signedIn('alice'), await world.host.signedIn('bob')]
  await limiter.settings.update({ maximum: 4 })
  await limiter.passwords.create(1, 'script')
  const neighbours = { 'sess:of:somebody': 'else', sessmgr: 'no prefix', 'sessmgr-other:x': '1', 'my:sessmgr:x': '1' }
  for (const [key, value] of Object.entries(neighbours)) await world.client.set(key, value)
  const before = await world.everything()
  const asked = await world.run('uninstall')
  expect([asked.code, asked.out, asked.err.endsWith('Pass --yes to confirm.\n')]).toEqual([1, '', true])
  expect(await world.everything()).toEqual(before)
  const { code, out, err } = await world.run('uninstall', '--yes')
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^Removed\./)
  const isForeign = ([key]: readonly [string, unknown]) => !key.startsWith('sessmgr:')
  const others = Object.entries(before).filter(isForeign)
  expect(Object.keys(before).length).toBeGreaterThanOrEqual(others.length + 4)
  expect(await world.everything()).toEqual(Object.fromEntries(others))
  expect(others.map(([key]) => key)).toContain(`sess:${bob.sessionId()}`)
})
