import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CLI, type CliWorld, EXAMPLE, startCliWorld } from '../../support/cli.ts'
import { inParallel } from '../../support/in-parallel.ts'

/** More than a pipe holds, as JSON. */
const SESSIONS = 280

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
  await world.host.limiter.settings.update({ maximum: SESSIONS })
})
beforeEach(() => world.host.limiter.sessions.endAll(2))
afterAll(() => world.close())

const env = () => ({ PATH: process.env.PATH ?? '', TERM: 'dumb', NODE: process.execPath, CLI, ...world.env })

/** Runs a line of the shell, in which `sessmgr` is the program. */
async function inShell(line: string): Promise<{ code: number; out: string; err: string }> {
  const program = `set -o pipefail; sessmgr() { "$NODE" "$CLI" "$@"; }; ${line}`
  const child = spawn('bash', ['-c', program], { cwd: EXAMPLE, env: env(), stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

it('a list that is longer than a pipe holds arrives whole, and ends without a word if the reader has enough', async () => {
  await inParallel(SESSIONS, 20, () => world.host.signedIn('alice'))
  const list = 'sessmgr sessions list alice --format json'
  const [whole, cut] = [await inShell(`${list} | (sleep 1; cat)`), await inShell(`${list} | head -c 10`)]
  expect([whole.code, whole.err, whole.out.length > 65_536]).toEqual([0, '', true])
  expect(JSON.parse(whole.out)).toHaveLength(SESSIONS)
  expect([cut.code, cut.out.length, cut.err]).toEqual([0, 10, ''])
})

it('output that cannot be written is 1, and what was done is said to stay done', async () => {
  const { code, err } = await inShell('sessmgr app-passwords create bob --name full > /dev/full')
  expect([code, err]).toEqual([1, expect.stringMatching(/^The output could not be written: ENOSPC/)])
  expect((await inShell('sessmgr app-passwords list bob')).out).toContain('full')
})

describe('in a terminal', () => {
  /** Runs a shell line in a terminal of its own, as `script` makes one, and types into it once it has asked. */
  async function inTerminal(line: string, typed?: string): Promise<{ code: number | null; screen: string }> {
    const stdio = ['pipe', 'pipe', 'ignore'] as const
    const child = spawn('script', ['-qec', line, '/dev/null'], { cwd: EXAMPLE, env: env(), stdio: [...stdio] })
    let screen = ''
    let answered = typed === undefined
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      screen += text
      if (answered || !screen.includes('[y/N]')) return
      answered = true
      child.stdin?.write(`${typed}\n`)
    })
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, screen: screen.replaceAll('\r', '') }
  }

  it('the list of sessions fits', async () => {
    await world.host.signedIn('alice')
    for (const columns of [160, 76]) {
      const { code, screen } = await inTerminal(`stty cols ${columns}; "$NODE" "$CLI" sessions list alice`)
      expect([code, screen]).toEqual([0, expect.stringMatching(/\b[0-9a-f]{64}\b/)])
      for (const line of screen.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
    }
  })

  it('what destroys asks, and only yes means yes', async () => {
    for (const [typed, code, status] of [
      ['', 1, 200],
      ['yesterday', 1, 200],
      ['YES', 0, 401],
    ] as const) {
      const alice = await world.host.signedIn('alice')
      const done = await inTerminal('"$NODE" "$CLI" sessions destroy alice', typed)
      expect(done.screen).toContain('End every session of alice? [y/N]')
      expect([done.code, await alice.me()], typed).toEqual([code, status])
      if (code === 1) expect(done.screen).toContain('Nothing was changed.')
    }
  })
})
