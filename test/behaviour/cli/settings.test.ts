import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SETTING_HELP } from '../../../src/cli/commands/setting-help.ts'
import { sessmgr } from '../../../src/index.ts'
import { SETTING_NAMES } from '../../../src/options/setting-rules.ts'
import { type CliWorld, startCliWorld } from '../../support/cli.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

const SILENT = { warn() {}, error() {} }

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
beforeEach(() => world.host.store.options.delete('sessmgr_settings'))
afterAll(() => world.close())

/** Returns the table of the settings, whose first row is the given one. */
const table = (first: string) =>
  `${['KEY           VALUE  SOURCE', first, 'logic         allow  default', 'idle_release  0      default', 'enforce       true   default'].join('\n')}\n`

const stored = async () => (await world.host.store.options.get('sessmgr_settings'))?.value

describe('rule 28: sessmgr settings', () => {
  it.each([[['settings', '--help']], [['settings', 'set', '--help']]])(
    '%j tells what each setting is',
    async (args) => {
      const { code, out } = await world.run(...args)
      expect(code).toBe(0)
      const said = out.split('\nSettings:\n')[1] ?? ''
      expect([...said.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, name]) => name)).toEqual(SETTING_NAMES)
      expect(said.replaceAll(/\s+/g, ' ')).toContain(SETTING_HELP.idle_release)
    },
  )
})

describe('rule 28: sessmgr settings list and get', () => {
  it('list every setting, with the defaults for what is not stored', async () => {
    expect(await world.run('settings', 'list')).toEqual({
      code: 0,
      out: table('maximum       1      default'),
      err: '',
    })
    await world.host.store.options.set('sessmgr_settings', { maximum: 12 })
    expect((await world.run('settings', 'list')).out).toBe(table('maximum       12     stored'))
  })

  it('list them as json with their own types, as csv, and their names alone', async () => {
    const json = JSON.parse((await world.run('settings', 'list', '--format', 'json')).out)
    expect(json).toEqual([
      { key: 'maximum', value: 1, source: 'default' },
      { key: 'logic', value: 'allow', source: 'default' },
      { key: 'idle_release', value: 0, source: 'default' },
      { key: 'enforce', value: true, source: 'default' },
    ])
    expect((await world.run('settings', 'list', '--format', 'csv')).out).toBe(
      'key,value,source\nmaximum,1,default\nlogic,allow,default\nidle_release,0,default\nenforce,true,default\n',
    )
    expect((await world.run('settings', 'list', '--format', 'ids')).out).toBe('maximum logic idle_release enforce\n')
    expect((await world.run('settings', 'list', '--format', 'yaml')).code).toBe(2)
  })

  it('print one value alone, for a script', async () => {
    expect(await world.run('settings', 'get', 'maximum')).toEqual({ code: 0, out: '1\n', err: '' })
    expect((await world.run('settings', 'get', 'logic')).out).toBe('allow\n')
    expect((await world.run('settings', 'get', 'enforce')).out).toBe('true\n')
  })

  it.each(['colour', '__proto__', 'Maximum', ''])('know no setting %j: 1', async (key) => {
    for (const args of [
      ['get', key],
      ['set', key, '2'],
      ['reset', key],
    ]) {
      const { code, out, err } = await world.run('settings', ...args)
      expect([code, out, err]).toEqual([
        1,
        '',
        `Unknown setting "${key}". Use one of maximum, logic, idle_release, enforce.\n`,
      ])
    }
    expect(await stored()).toBeUndefined()
  })
})

describe('rule 28: sessmgr settings set', () => {
  it('stores a value, keeps the other, and holds for the application at once', async () => {
    expect(await world.run('settings', 'set', 'maximum', '3')).toEqual({ code: 0, out: 'maximum is now 3.\n', err: '' })
    expect((await world.run('settings', 'set', 'logic', 'logout_oldest')).out).toBe('logic is now logout_oldest.\n')
    expect(await stored()).toEqual({ maximum: 3, logic: 'logout_oldest' })
    expect(await world.host.limiter.settings.get()).toEqual(wholeSettings({ maximum: 3, logic: 'logout_oldest' }))
    expect((await world.run('settings', 'get', 'maximum')).out).toBe('3\n')
  })

  it('says that a maximum above the bound of an account counts as the bound, apart from the value', async () => {
    const err = 'Note: A maximum above 1000 counts as 1000.\n'
    const set = await world.run('settings', 'set', 'maximum', '1000000')
    expect(set).toEqual({ code: 0, out: 'maximum is now 1000000.\n', err })
    expect(await world.run('settings', 'get', 'maximum')).toEqual({ code: 0, out: '1000000\n', err })
    await world.run('settings', 'set', 'maximum', '1000')
    expect(await world.run('settings', 'get', 'maximum')).toEqual({ code: 0, out: '1000\n', err: '' })
  })

  it('stores the idle release as a number, and the switch as a boolean', async () => {
    expect((await world.run('settings', 'set', 'idle_release', '900')).out).toBe('idle_release is now 900.\n')
    expect((await world.run('settings', 'set', 'enforce', 'false')).out).toBe('enforce is now false.\n')
    expect(await stored()).toEqual({ idle_release: 900, enforce: false })
  })

  it.each([
    ['maximum', '0'],
    ['maximum', '-1'],
    ['maximum', '1.5'],
    ['maximum', 'many'],
    ['maximum', ''],
    ['maximum', '1e3'],
    ['maximum', '9007199254740993'],
    ['logic', 'nope'],
    ['idle_release', '299'],
    ['idle_release', '15m'],
    ['enforce', 'off'],
    ['enforce', ''],
    ['logic', ''],
    ['logic', 'ALLOW'],
  ])('refuses %s %j as the REST API does, and stores no default in its place', async (key, value) => {
    await world.host.store.options.set('sessmgr_settings', { maximum: 4, logic: 'block' })
    const before = await world.everything()
    const { code, out, err } = await world.run('settings', 'set', key, value)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(
      new RegExp(`^Invalid settings: ${key} .*\\. Nothing was changed\\.\nSee \\S+#invalid_setting\n$`),
    )
    expect(await world.everything()).toEqual(before)
  })

  it.each([
    ['-1', 'a whole number, 1 or more'],
    ['0', 'a whole number, 1 or more'],
    ['many', 'a whole number, 1 or more'],
    ['9007199254740993', 'at most 9007199254740991'],
  ])('names the range of maximum instead of %s', async (value, range) => {
    const { err } = await world.run('settings', 'set', 'maximum', value)
    expect(err).toMatch(`Invalid settings: maximum must be ${range}. Nothing was changed.`)
  })

  it.each([
    ['settings', 'set', 'maximum'],
    ['settings', 'set'],
    ['settings', 'set', 'maximum', '1', '2'],
  ])('takes %s %s %s for wrong usage: 2', async (...args) => {
    const { code, out } = await world.run(...args)
    expect([code, out]).toEqual([2, ''])
    expect(await stored()).toBeUndefined()
  })
})

describe('rule 37: the command line and the application', () => {
  it('share what is stored: a process with other defaults changes only what it was asked to', async () => {
    const app = sessmgr({ store: world.host.store, settings: { maximum: 5, logic: 'block' }, logger: SILENT })
    await world.run('settings', 'set', 'maximum', '3')
    expect(await stored()).toEqual({ maximum: 3 })
    expect(await app.settings.get()).toEqual(wholeSettings({ maximum: 3, logic: 'block' }))
  })

  it('give a setting back to the code, one or all', async () => {
    await world.host.store.options.set('sessmgr_settings', { maximum: 3, logic: 'block' })
    expect(await world.run('settings', 'reset', 'logic')).toEqual({
      code: 0,
      out: 'logic is now allow, the default.\n',
      err: '',
    })
    expect(await stored()).toEqual({ maximum: 3 })
    const { out } = await world.run('settings', 'reset')
    expect(out.split('\n')).toEqual([
      'maximum is now 1, the default.',
      'logic is now allow, the default.',
      'idle_release is now 0, the default.',
      'enforce is now true, the default.',
      '',
    ])
    expect(await stored()).toBeUndefined()
  })
})
