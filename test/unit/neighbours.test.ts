import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, onTestFinished, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../scripts/neighbours.mjs', import.meta.url))

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sessmgr-clones-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

/** Creates a clone whose test runner prints this. */
function clone(name: string, runner: string, prints: string): void {
  const bin = join(folder, name, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  mkdirSync(join(folder, name, 'test'))
  writeFileSync(join(folder, name, 'index_test.ts'), 'import {RedisStore} from "./"')
  writeFileSync(join(bin, runner), `#!/bin/sh\n${prints}\n`)
  chmodSync(join(bin, runner), 0o755)
}

/** Runs the script, and lists what it leaves. */
function run(...suites: string[]) {
  const outputs = mkdtempSync(join(folder, 'outputs-'))
  const env = { ...process.env, FORCE_COLOR: '1', TMPDIR: outputs }
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, folder, ...suites], { env, encoding: 'utf8' })
  const left = readdirSync(outputs, { recursive: true }).filter((path) => String(path).includes('/'))
  return {
    status,
    lines: stdout.trim().split('\n').slice(1),
    stderr,
    left: left.map((path) => String(path).split('/')[1]),
  }
}

test('suites of other projects succeed if enough tests pass, and leave only their logs', () => {
  clone('passport', 'mocha', 'echo "  545 passing"')
  expect(run('passport')).toMatchObject({
    status: 0,
    lines: ['passport, alone: 545 passed, 0 failed', 'passport, plain: 545 passed, 0 failed, 545 wanted'],
    left: ['passport-alone.log', 'passport-plain.log'],
  })
})

test.each([
  ['too few pass', 'echo "  544 passing"', 'passport, plain: 544 passed, 0 failed, too few: 545 wanted'],
  ['none passes', 'exit 1', 'passport, alone: 0 passed, 0 failed, too few: 1 wanted'],
])('they fail if %s', (_, prints, line) => {
  clone('passport', 'mocha', prints)
  const { status, lines } = run('passport')
  expect(status).toBe(1)
  expect(lines).toContain(line)
})

test('they name the tests that fail in Vitest, which prints colors unless NO_COLOR is set', () => {
  const failure = "printf ' FAIL  index_test.ts > redis\\n Tests  1 failed | 4 passed (5)\\n'"
  clone('connect-redis', 'vitest', `[ -n "$NO_COLOR" ] && [ -z "$FORCE_COLOR" ] && ${failure}`)
  expect(run('connect-redis').lines.slice(0, 2)).toEqual(['connect-redis, alone: 4 passed, 1 failed', '  redis'])
})

test('they fail if a suite is unknown, or a clone or its dependencies are missing', () => {
  expect(run('passprot')).toMatchObject({ status: 1, stderr: expect.stringContaining('Unknown suites: passprot.') })
  mkdirSync(join(folder, 'passport'))
  const { status, stderr } = run('passport', 'koa-session')
  expect(status).toBe(1)
  expect(stderr.trim().split('\n')).toEqual([
    `passport: run \`npm install\` in ${join(folder, 'passport')}`,
    `koa-session: there is no clone. Run: git clone https://github.com/koajs/session.git ${join(folder, 'koa-session')}`,
  ])
})
