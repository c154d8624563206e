// Runs the tests of `sessmgr/fetch` and of the explicit calls, and the example with Hono, in Bun and Deno:
// `node scripts/test-runtimes.mjs`, or `node scripts/test-runtimes.mjs bun`. Both come from npm when they are first
// asked for, and are stored in node_modules/.cache/runtimes. As dependencies, they would cost every contributor 200 MB.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tsImport } from 'tsx/esm/api'
import { untilAnswered } from './until-answered.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** The tested versions, which docs/fetch.md names, and how each runs a program. */
const RUNTIMES = {
  bun: { version: '1.4.5', start: ['--bun'], more: [] },
  // Deno lacks a method with which vitest ends a worker, and reports that as an unhandled error.
  deno: { version: '2.9.6', start: ['run', '--allow-all'], more: ['--dangerouslyIgnoreUnhandledErrors'] },
}
const SUITES = [
  'test/behaviour/hosts/fetch-calls.test.ts',
  'test/behaviour/hosts/explicit-calls.test.ts',
  'test/behaviour/hosts/fetch-serve.test.ts',
  'test/behaviour/hosts/fetch.test.ts',
]

const given = process.argv.slice(2)
const { startRedis } = await tsImport('../test/support/redis-server.ts', import.meta.url)
const redis = await startRedis()
try {
  for (const name of given.length > 0 ? given : Object.keys(RUNTIMES)) await test(name)
} finally {
  await redis.stop()
}

async function test(name) {
  const { version, start, more } = RUNTIMES[name] ?? fail(`Choose from ${Object.keys(RUNTIMES).join(', ')}.`)
  const program = install(name, version)
  console.log(`The tests of Request and Response in ${name} ${version}`)
  const vitest = [join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', 'node', '--pool', 'threads']
  const env = { ...process.env, RUNTIME: name, TEST_REDIS_URL: redis.url }
  const { status } = spawnSync(program, [...start, ...vitest, ...more, ...SUITES], { cwd: root, env, stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
  await tryExample(name, program, start)
}

function install(name, version) {
  const folder = join(root, 'node_modules', '.cache', 'runtimes', `${name}-${version}`)
  const program = join(folder, 'node_modules', '.bin', name)
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const parameters = ['install', '--no-audit', '--no-fund', `${name}@${version}`]
  const { status } = spawnSync('npm', parameters, { cwd: folder, stdio: ['ignore', 2, 2] })
  return status === 0 ? program : fail(`npm could not install ${name} ${version}.`)
}

/** Signs in twenty times at once, of which the example lets one session live. */
async function tryExample(name, program, start) {
  const port = '3999'
  const example = spawn(program, [...start, 'examples/hono.mjs'], { cwd: root, env: { ...process.env, PORT: port } })
  try {
    const origin = `http://127.0.0.1:${port}`
    await untilAnswered(origin)
    const body = new URLSearchParams({ username: 'alice', password: 'secret' })
    const logIn = async () => {
      const { headers } = await fetch(`${origin}/login`, { method: 'POST', body, redirect: 'manual' })
      return headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0])
    }
    const see = async (cookies) => (await fetch(origin, { headers: { cookie: cookies.join('; ') } })).text()
    const cookies = await Promise.all(Array.from({ length: 20 }, logIn))
    const pages = await Promise.all(cookies.map(see))
    const live = pages.filter((page) => page === 'You are signed in.').length
    console.log(`examples/hono.mjs in ${name}: of 20 logins at once, ${live} is live`)
    if (live !== 1) process.exitCode = 1
  } finally {
    example.kill()
  }
}

/** @param {string} message
 * @returns {never} */
function fail(message) {
  throw new Error(message)
}
