import { PassThrough } from 'node:stream'
import { afterEach, expect, it, vi } from 'vitest'
import { createCliContext } from '../../../src/cli/cli-context.ts'
import { runCli } from '../../support/cli.ts'
import { folderWith } from './config-folder.ts'

afterEach(() => vi.restoreAllMocks())

/** Sets the title, clears the line, hides what follows, and turns the direction of text around. */
const HOSTILE = '\x1b]0;title\x07\x1b[2K\x1b[1Groot has none\x1b[8m\x9b31m\u202egnp\u2069\u061c\u200f\r\nroot'
/** What the terminal must not get, line feeds aside. */
const UNSAFE = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const VISIBLE = ']0;title  [2K [1Groot has none [8m 31m gnp     root'

/** An application with a user that has such a name, and with `sessions` of theirs from devices of that name. */
const configWith = (sessions: number) => `
import { memoryStore, sessmgr } from 'sessmgr'
import { explicitCalls } from 'sessmgr/explicit'
const HOSTILE = ${JSON.stringify(HOSTILE)}
const user = { id: 7, login: HOSTILE, display_name: HOSTILE }
const find = () => user
export default async () => {
  const limiter = sessmgr({
    store: { ...memoryStore(), local: false },
    settings: { maximum: 9 },
    host: { users: { findById: find, findByEmail: find, findByLogin: find, summary: () => user }, can: () => true },
  })
  const calls = explicitCalls(limiter, { exists: () => true, destroy() {} })
  for (let made = 0; made < ${sessions}; made++) {
    const create = async () => ({ sessionId: 'session ' + made, ttlMs: 60_000 })
    await calls.login({ userId: 7, userAgent: HOSTILE }, create)
  }
  await limiter.passwords.create(7, HOSTILE)
  limiter.hooks.addAction('sessmgr_cli_init', 'names', (cli) => cli.register('names', {
    description: 'print names',
    commands: {
      say: { description: 'print one', run: ({ print }) => print(HOSTILE) },
      fail: { description: 'fail', run: ({ failure }) => { throw failure(HOSTILE) } },
    },
  }))
  return limiter
}
`

const run = (sessions: number, ...args: string[]) =>
  runCli(args, { cwd: folderWith({ 'sessmgr.config.mjs': configWith(sessions) }) })

it('the command line shows a hostile name as harmless text', async () => {
  for (const [sessions, line] of [
    [0, 'sessions list 7'],
    [0, 'sessions destroy 7'],
    [1, 'sessions list 7'],
    [1, 'sessions list 7 --format csv'],
    [1, `sessions destroy 7 --yes --token ${'0'.repeat(64)}`],
    [1, 'explain 7'],
    [1, 'app-passwords create 7 --name x'],
    [1, 'app-passwords list 7'],
    [1, 'app-passwords revoke 7 no-such-id'],
    [1, 'app-passwords revoke 7 no-such-id --yes'],
    [0, 'names say'],
    [0, 'names fail'],
  ] as const) {
    const { out, err } = await run(sessions, ...line.split(' '))
    expect((out + err).replaceAll(/\s+/g, ' '), line).toContain(VISIBLE.replaceAll(/\s+/g, ' '))
    expect(out + err, line).not.toMatch(UNSAFE)
    // A line feed in a name begins no line of its own.
    if (!line.startsWith('names')) expect(out + err, line).not.toMatch(/^root/m)
  }
})

it('--format json escapes a hostile name, and loses nothing of it', async () => {
  for (const line of ['sessions list 7', 'app-passwords list 7']) {
    const { out } = await run(1, ...line.split(' '), '--format', 'json')
    expect(out).not.toMatch(UNSAFE)
    expect(out).toContain(String.raw`\u009b31m\u202egnp\u2069\u061c\u200f\r\nroot`)
    expect(JSON.stringify(JSON.parse(out))).toContain(JSON.stringify(HOSTILE).slice(1, -1))
  }
})

it('a question in a terminal shows a hostile name as harmless text', async () => {
  const [input, output] = [Object.assign(new PassThrough(), { isTTY: true }), new PassThrough()]
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as never)
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(output as never)
  input.write('y\n')
  await createCliContext(() => Promise.reject()).confirm(`End every session of ${HOSTILE}?`, false)
  const asked = String(output.read())
  expect(asked).toContain('title  [2K [1Groot has none')
  expect(asked).not.toMatch(UNSAFE)
})
