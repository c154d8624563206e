import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '../../../src/index.ts'
import { CLI, type CliWorld, EXAMPLE, runCli, runProgram, startCliWorld } from '../../support/cli.ts'

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

describe('the store', () => {
  it('that cannot be reached is said in one sentence, with 1', async () => {
    const { code, out, err } = await runProgram(['settings', 'list'], { env: { REDIS_URL: 'redis://127.0.0.1:1' } })
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/Redis/)
    expect(err).not.toMatch(/^\s+at /m)
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

describe('in a terminal', () => {
  /** Runs a shell line in a terminal of its own, as `script` makes one, and types into it once it has asked. */
  async function inTerminal(line: string, typed?: string): Promise<{ code: number | null; screen: string }> {
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      cwd: EXAMPLE,
      env: { PATH: process.env.PATH ?? '', TERM: 'dumb', CLI, NODE: process.execPath, ...world.env },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let screen = ''
    let answered = typed === undefined
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text
      if (answered || !screen.includes('[y/N]')) return
      answered = true
      child.stdin.write(`${typed}\n`)
    })
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, screen: screen.replaceAll('\r', '') }
  }

  it.each([[160], [76]])('of %d columns the list of sessions fits', async (columns) => {
    await world.host.signedIn('alice')
    const { code, screen } = await inTerminal(`stty cols ${columns}; "$NODE" "$CLI" sessions list alice`)
    expect(code).toBe(0)
    const lines = screen.split('\n').filter((line) => line !== '')
    expect(lines.length).toBeGreaterThanOrEqual(2)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
    expect(screen).toMatch(/\b[0-9a-f]{64}\b/)
    await world.host.limiter.sessions.endAll(2)
  })

  it.each([
    ['YES', 0, 401],
    ['', 1, 200],
    ['yesterday', 1, 200],
  ])('what destroys asks, and the answer %j means %d', async (typed, code, status) => {
    const alice = await world.host.signedIn('alice')
    const done = await inTerminal('"$NODE" "$CLI" sessions destroy alice', typed)
    expect(done.screen).toContain('End every session of alice? [y/N]')
    expect([done.code, await alice.me()]).toEqual([code, status])
    if (code === 1) expect(done.screen).toContain('Nothing was changed.')
    await world.host.limiter.sessions.endAll(2)
  })
})
