import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI, type CliWorld, EXAMPLE, runProgram, startCliWorld } from '../../support/cli.ts'

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
afterAll(() => world.close())

describe('the store', () => {
  it('that cannot be reached is said in one sentence, with 1', async () => {
    const { code, out, err } = await runProgram(['settings', 'list'], { env: { REDIS_URL: 'redis://127.0.0.1:1' } })
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/Redis/)
    expect(err).not.toMatch(/^\s+at /m)
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
