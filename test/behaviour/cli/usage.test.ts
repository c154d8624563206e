import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '../../../src/constants.ts'
import { type CliWorld, runCli, runProgram, startCliWorld } from '../../support/cli.ts'

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
afterAll(() => world.close())

describe('rule 28: exit codes', () => {
  it('0 for --version and -V, and the version', async () => {
    const version = { code: 0, out: `${VERSION}\n`, err: '' }
    expect(await runProgram(['--version'])).toEqual(version)
    expect(await runCli(['-V'])).toEqual(version)
  })

  it.each([
    [['--help'], ['sessions', 'settings', 'app-passwords', 'doctor', 'uninstall']],
    [
      ['sessions', '--help'],
      ['list', 'count', 'destroy', 'destroy-all'],
    ],
    [
      ['settings', '--help'],
      ['list', 'get', 'set'],
    ],
    [
      ['app-passwords', 'help'],
      ['create', 'list', 'revoke'],
    ],
    [
      ['help', 'sessions'],
      ['list', 'count', 'destroy', 'destroy-all'],
    ],
  ])('0 for %j, which names every command, and needs no configuration', async (args, commands) => {
    const { code, out, err } = await runCli(args, { cwd: '/' })
    expect([code, err]).toEqual([0, ''])
    for (const command of commands) expect(out).toMatch(new RegExp(`^  ${command}\\b`, 'm'))
  })

  it.each([
    [[]],
    [['nonsense']],
    [['sessions']],
    [['sessions', 'nonsense']],
    [['sessions', 'list']],
    [['sessions', 'list', 'alice', 'bob']],
    [['sessions', 'list', 'alice', '--nonsense']],
    [['sessions', 'list', 'alice', '--format']],
    [['sessions', 'destroy', '--yes']],
    [['sessions', 'destroy-all', 'alice', '--yes']],
    [['app-passwords', 'revoke', 'admin']],
    [['uninstall', 'now', '--yes']],
    [['--config']],
  ])('2 for %j, with a word on what is wrong, and nothing is changed', async (args) => {
    const alice = await world.host.signedIn('alice')
    const { code, out, err } = await world.run(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/error:|Usage:/)
    expect(await alice.me()).toBe(200)
    await world.host.limiter.sessions.endAll(2)
  })
})

describe('the action sessmgr_cli_init', () => {
  it('fires once for a command, when the limiter is there, and not for its help', async () => {
    const { readFileSync, existsSync, rmSync } = await import('node:fs')
    const log = `${world.env.TEST_HOOKS_LOG}.init`
    const env = { ...world.env, TEST_HOOKS_LOG: log }
    await runCli(['sessions', '--help'], { env })
    expect(existsSync(log)).toBe(false)
    await runCli(['sessions', 'count', 'alice'], { env })
    const lines = readFileSync(log, 'utf8').split('\n')
    rmSync(log)
    expect(lines.filter((line) => line.includes('"sessmgr_cli_init"'))).toEqual([
      '{"hook":"sessmgr_cli_init","args":[{}]}',
    ])
  })
})
