import { describe, expect, it } from 'vitest'
import { runCli } from '../../support/cli.ts'
import { folderWith, LOCAL_WARNING } from './config-folder.ts'

/** An add-on with an option, a command that reads it, one that changes it, and one that shows its input. */
const ADD_ON = `
function nightLimit(limiter) {
  let maximum = 1
  limiter.hooks.addAction('sessmgr_cli_init', 'night-limit', (cli) => cli.register('night-limit', {
    description: 'show and change the limit at night',
    commands: {
      show: {
        description: 'print the limit',
        options: { '--format <format>': 'table, json, csv or ids' },
        run: ({ printRows }) => printRows([{ name: 'night', maximum }, { name: 'day', maximum: 9 }], ['name', 'maximum']),
      },
      set: {
        description: 'change the limit',
        arguments: ['<maximum>'],
        options: { '--yes': 'do not ask' },
        changes: true,
        async run({ print, confirm, failure }, maximum) {
          if (!/^[0-9]+$/.test(maximum)) throw failure('The limit is a number.', 2)
          if (maximum === '0') throw failure('The limit is 1 at least.')
          await confirm('Change the limit?')
          print('The limit at night is now ' + maximum + '.')
        },
      },
      say: {
        description: 'print what was given',
        arguments: ['<one>', '[more...]'],
        options: { '--dry-run': 'nothing', '--role <role>': 'a role' },
        run: ({ print, options }, ...args) => print(JSON.stringify({ options, args })),
      },
      fail: { description: 'throw', run() { throw new TypeError('no such thing') } },
    },
  }))
}
`
const MEMORY = `import { memoryStore, sessmgr } from 'sessmgr'
${ADD_ON}
const limiter = sessmgr()
nightLimit(limiter)
export default limiter
`

/** The same over a store that says that processes share it. */
const SHARED = MEMORY.replace('sessmgr()', 'sessmgr({ store: { ...memoryStore(), local: false } })')

const run =
  (config: string) =>
  (...args: string[]) =>
    runCli(args, { cwd: folderWith({ 'sessmgr.config.mjs': config }) })
const shared = run(SHARED)
const local = run(MEMORY)

describe('rule 44: a command that an add-on registers on sessmgr_cli_init', () => {
  it('prints rows in the format that is asked for', async () => {
    const rows = (...format: string[]) => shared('night-limit', 'show', ...format)
    expect(await rows()).toEqual({ code: 0, out: 'NAME   MAXIMUM\nnight  1\nday    9\n', err: '' })
    expect((await rows('--format', 'ids')).out).toBe('night day\n')
  })

  it('asks before it changes something, unless --yes is given', async () => {
    const asked = 'Change the limit? Nothing was changed, because this is not a terminal. Pass --yes to confirm.\n'
    expect(await shared('night-limit', 'set', '3')).toEqual({ code: 1, out: '', err: asked })
    const changed = { code: 0, out: 'The limit at night is now 3.\n', err: '' }
    expect(await shared('night-limit', 'set', '3', '--yes')).toEqual(changed)
  })

  it('ends with 1 if it fails, 2 for wrong usage, and what the add-on says', async () => {
    for (const [code, line, message] of [
      [1, 'set 0', /^The limit is 1 at least\.\n$/],
      [2, 'set many', /^The limit is a number\.\n$/],
      [1, 'fail', /^TypeError: no such thing\n\s+at .*sessmgr\.config\.mjs/],
      [2, 'show --format xml', /format "xml"/],
      [2, 'set', /missing required argument 'maximum'/],
      [2, 'set 1 2', /too many arguments/],
      [2, 'show --colour', /unknown option '--colour'/],
      [2, 'nothing', /unknown command 'nothing'/],
    ] as const) {
      const done = await shared('night-limit', ...line.split(' '))
      expect(done.err).toMatch(message)
      expect([done.code, done.out], line).toEqual([code, ''])
    }
  })

  it('is refused over a memory store when it changes something, and warns of it otherwise', async () => {
    const refused = await local('night-limit', 'set', '3', '--yes')
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toContain('Nothing was changed')
    const { code, out, err } = await local('night-limit', 'say', 'a', 'b', '--role', 'editor', 'c', '--dry-run')
    expect([code, err]).toEqual([0, LOCAL_WARNING])
    // Its arguments come one by one, and its options in camel case.
    expect(JSON.parse(out)).toEqual({ options: { role: 'editor', dryRun: true }, args: ['a', 'b', 'c'] })
  })

  it('is in the list of all commands, and has one of its own', async () => {
    for (const args of [['--help'], ['help'], ['--config', 'sessmgr.config.mjs', '--help']]) {
      const { code, out, err } = await local(...args)
      expect([code, err]).toEqual([0, ''])
      expect(out).toMatch(/^ {2}night-limit +show and change the limit at night$/m)
      expect(out).toMatch(/^ {2}sessions\b/m)
    }
    for (const args of [
      ['night-limit', '--help'],
      ['help', 'night-limit'],
    ]) {
      expect((await local(...args)).out).toMatch(/^ {2}set \[options\] <maximum> +change the limit$/m)
    }
  })

  it('is not asked for by the commands that need no configuration', async () => {
    const cwd = folderWith({ 'sessmgr.config.mjs': 'throw new Error("broken")' })
    expect(await runCli(['sessions', '--help'], { cwd })).toMatchObject({ code: 0, err: '' })
    const help = await runCli(['--help'], { cwd })
    expect([help.code, help.out]).toEqual([0, expect.stringContaining('uninstall')])
    expect(help.err).toMatch(/^Warning: the add-on commands are not listed: .*broken/)
    const command = await runCli(['night-limit', 'show'], { cwd })
    expect([command.code, command.out, command.err]).toEqual([1, '', expect.stringContaining('broken')])
  })
})

it('rule 44: a registration with a mistake is logged, adds nothing, and stops no other command', async () => {
  const ok = "{ description: 'x', commands: { go: { description: 'x', run() {} } } }"
  const withCommand = (command: string) => `'mine', { description: 'x', commands: { go: { ${command} } } }`
  for (const [registration, message] of [
    [`'sessions', ${ok}`, 'The command "sessions" already exists'],
    [`'help', ${ok}`, 'The command "help" already exists'],
    [`'mine', ${ok}); cli.register('mine', ${ok}`, 'The command "mine" already exists'],
    [`'My Add-on', ${ok}`, 'The command "My Add-on" needs a name of lowercase letters'],
    ["'mine'", 'The command "mine" needs a "description"'],
    ["'mine', { description: 'x', commands: {} }", 'The command "mine" needs at least one entry in "commands"'],
    [withCommand("description: 'x'"), 'The command "mine go" needs a "run" function'],
    [withCommand("description: 'x', run() {}, option: {}"), 'Did you mean "options"?'],
    [withCommand("description: 'x', run() {}, arguments: ['user']"), '"user" is not an argument'],
    [withCommand("description: 'x', run() {}, arguments: ['[a]', '<b>']"), 'argument cannot follow "[a]"'],
    [withCommand("description: 'x', run() {}, options: { '-f': 'x' }"), '"-f" is not an option'],
    [withCommand("description: 'x', run() {}, options: { '--config <file>': 'x' }"), '"--config <file>" option is'],
  ] as const) {
    const subscriber = `limiter.hooks.addAction('sessmgr_cli_init', 'broken', (cli) => { cli.register(${registration}) })`
    const { code, err } = await run(MEMORY.replace('\nnightLimit(', `\n${subscriber}\nnightLimit(`))(
      ...['night-limit', 'say', 'a'],
    )
    expect(err).toContain('The subscriber "broken" to "sessmgr_cli_init" failed')
    expect(err).toContain(message)
    expect(code).toBe(0)
  }
})
