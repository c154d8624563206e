import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI, type CliWorld, EXAMPLE, startCliWorld } from '../../support/cli.ts'
import { inParallel } from '../../support/in-parallel.ts'

/** More than a pipe holds, as JSON. */
const SESSIONS = 280

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
  await world.host.limiter.settings.update({ maximum: SESSIONS })
  await inParallel(SESSIONS, 20, () => world.host.signedIn('alice'))
})
afterAll(() => world.close())

/** Runs a line of the shell, in which `sessmgr` is the program. */
async function inShell(line: string): Promise<{ code: number; out: string; err: string }> {
  const program = `set -o pipefail; sessmgr() { "$NODE" "$CLI" "$@"; }; ${line}`
  const child = spawn('bash', ['-c', program], {
    cwd: EXAMPLE,
    env: { PATH: process.env.PATH ?? '', NODE: process.execPath, CLI, ...world.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

describe('a list that is longer than what a pipe holds', () => {
  it('arrives whole at a reader that takes its time', async () => {
    const { code, out, err } = await inShell('sessmgr sessions list alice --format json | (sleep 1; cat)')
    expect([code, err]).toEqual([0, ''])
    expect(out.length).toBeGreaterThan(65_536)
    expect(JSON.parse(out)).toHaveLength(SESSIONS)
  })

  it('ends without a word where the reader has seen enough', async () => {
    const { code, out, err } = await inShell('sessmgr sessions list alice --format json | head -c 10')
    expect([code, out.length, err]).toEqual([0, 10, ''])
  })
})

it('output that cannot be written is 1, and what was done is said to stay done', async () => {
  const { code, err } = await inShell('sessmgr app-passwords create bob --name full > /dev/full')
  expect(code).toBe(1)
  expect(err).toMatch(/^The output could not be written: ENOSPC/)
  expect((await inShell('sessmgr app-passwords list bob')).out).toContain('full')
})
