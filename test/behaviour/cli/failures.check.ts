import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliResult, runProgram } from '../../support/cli.ts'
import { ESM, folderWith, LOCAL_WARNING, projectWith, see } from './config-folder.ts'

const CONFIG = 'sessmgr.config.mjs'
const MAXIMUM = ['settings', 'get', 'maximum']
const LIST = ['sessions', 'list', 'alice']
const FOR_EVER = 'new Promise(() => {})'

/** Runs a command in a folder; its path becomes a dot. */
async function runIn(folder: string, args = MAXIMUM, env: Record<string, string> = {}): Promise<CliResult> {
  const { err, ...rest } = await runProgram(args, { cwd: folder, env })
  const packages = err.replaceAll(`file://${folder}/node_modules`, 'node_modules')
  return { ...rest, err: packages.replaceAll(`file://${folder}`, '.').replaceAll(folder, '.') }
}

/** Expects that a command fails with 1 and these words. The folder is an application with its packages. */
async function expectFailed(files: Record<string, string>, err: string | RegExp, args = MAXIMUM): Promise<void> {
  const result = await runIn(projectWith(files, ['redis', 'connect-redis']), args)
  const words = typeof err === 'string' ? err : expect.stringMatching(err)
  expect(result, JSON.stringify(files)).toEqual({ code: 1, out: '', err: words })
}

/** A port on which nobody listens, and nobody has. */
async function deadPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

const hostWith = (findByLogin: string) => `${ESM}
const users = { findById() {}, findByEmail() {}, findByLogin: ${findByLogin}, summary: (user) => user }
export default sessmgr({ host: { users, can: () => true } })`

it('an ES module in a CommonJS project is said in a sentence, with the two ways out', async () => {
  const project = 'this project is CommonJS ("type": "commonjs" in package.json)'
  const advice = (name: string, more: string) =>
    `Rename it to ${name}, or write CommonJS, with require() and module.exports${more}.\n`
  const own = advice(CONFIG, ' = limiter')
  for (const text of [
    `${ESM}export default sessmgr()`,
    "const { sessmgr } = require('sessmgr')\nexport default sessmgr()",
    'module.exports = import.meta.url',
  ]) {
    const why = `./sessmgr.config.js uses import or export, but ${project}.\n${own}`
    await expectFailed({ 'sessmgr.config.js': text }, why)
  }
  const named = './sessmgr.config.cjs uses import or export, but its name ends in .cjs.\n'
  await expectFailed({ 'sessmgr.config.cjs': `${ESM}export default sessmgr()` }, named + own)
  for (const [name, text] of [
    ['sessmgr.config.cjs', "require('./host.js')"],
    [CONFIG, "import './host.js'"],
    [CONFIG, `import('./host.js')\nawait ${FOR_EVER}`],
  ] as const) {
    const why = `./${name} could not be loaded: ./host.js uses import or export, but ${project}.\n`
    await expectFailed({ [name]: text, 'host.js': 'export const host = {}' }, why + advice('host.mjs', ''))
  }
  const well = await runIn(projectWith({ [CONFIG]: `${ESM}export default sessmgr()` }))
  expect(well).toEqual({ code: 0, out: '1\n', err: LOCAL_WARNING })
})

describe('a configuration that cannot be loaded', () => {
  const broken = 'const maximum = 5\nfoo bar\n'
  const loading = `./${CONFIG} could not be loaded: `
  const check = 'Find the error with: node --check <file>'
  it.each<[string, Record<string, string>, string | RegExp]>([
    ['an error of syntax', { [CONFIG]: broken }, `./${CONFIG}:2: SyntaxError: Unexpected identifier 'bar'\n`],
    [
      'one in CommonJS',
      { 'sessmgr.config.cjs': broken },
      "./sessmgr.config.cjs:2: SyntaxError: Unexpected identifier 'bar'\n",
    ],
    [
      'one in an imported file',
      { [CONFIG]: "import './host.mjs'", 'host.mjs': broken },
      `${loading}SyntaxError in an imported file: Unexpected identifier 'bar'. ${check}\n`,
    ],
    [
      'one in what it parses',
      { [CONFIG]: "\nJSON.parse('{')" },
      /^\.\/sessmgr\.config\.mjs could not be loaded: SyntaxError: .* in JSON .*\n {4}at .*:2:6\n$/,
    ],
    [
      'a package that is not there',
      { [CONFIG]: "import 'no-such-package'" },
      `${loading}Cannot find package 'no-such-package' imported from ./${CONFIG}\n`,
    ],
    [
      'one for require()',
      { 'sessmgr.config.cjs': "require('no-such-package')" },
      /^\.\/sessmgr\.config\.cjs could not be loaded: Cannot find module 'no-such-package'\n {4}at .*\.cjs:1:1\)\n$/,
    ],
    [
      'an error that it throws',
      { [CONFIG]: "function check() {\n  throw new TypeError('REDIS_URL is not set')\n}\ncheck()" },
      `${loading}TypeError: REDIS_URL is not set\n    at check (./${CONFIG}:2:9)\n    at ./${CONFIG}:4:1\n`,
    ],
    [
      'a promise of its function that rejects',
      { [CONFIG]: "export default async () => {\n  await null\n  throw new Error('no database')\n}" },
      /^\.\/sessmgr\.config\.mjs could not be loaded: no database\n {4}at .*\.\/sessmgr\.config\.mjs:3:9\)?\n$/,
    ],
    ['nothing that it throws', { [CONFIG]: 'throw undefined' }, `${loading}undefined\n`],
    [
      'an option that there is not',
      { [CONFIG]: `${ESM}export default sessmgr({ stoer: 1 })` },
      `${loading}There is no option "stoer". Did you mean "store"?\n${see('invalid_option')}`,
    ],
    [
      'an error of a timer',
      { [CONFIG]: `setTimeout(() => {\n  throw new Error('later')\n}, 10)\nawait ${FOR_EVER}` },
      /^\.\/sessmgr\.config\.mjs caused an uncaught error: later\n {4}at .*\.\/sessmgr\.config\.mjs:2:\d+\)?\n$/,
    ],
    [
      'an error of a promise',
      { [CONFIG]: `Promise.reject(\n  new Error('later'))\nawait ${FOR_EVER}` },
      /^\.\/sessmgr\.config\.mjs caused an uncaught error: later\n {4}at .*\.\/sessmgr\.config\.mjs:2:\d+\)?\n$/,
    ],
    [
      'a look-up of the host that fails',
      { [CONFIG]: hostWith("async () => { throw new TypeError('no table') }") },
      /^Finding "alice" in host\.users failed: TypeError: no table\n {4}at .*\/sessmgr\.config\.mjs:3:\d+\)?\n$/,
    ],
  ])('says which file it is, and no internals: %s: 1', async (_what, files, err) => {
    await expectFailed(files, err, LIST)
  })

  it('says so of TypeScript, and of a folder', async () => {
    const typescript = await runIn(folderWith({ 'sessmgr.config.ts': 'const a: number = 5\nfoo bar' }))
    expect([typescript.code, typescript.err]).toEqual([1, expect.stringMatching(/\.\/sessmgr\.config\.ts:2\b/)])
    expect(typescript.err.trimEnd().split('\n').length).toBeLessThanOrEqual(3)
    const folder = folderWith({})
    mkdirSync(join(folder, 'sessmgr.config.js'))
    expect((await runIn(folder)).err).toBe('./sessmgr.config.js cannot be read (EISDIR).\n')
  })

  it('shows the whole stack, and the cause once, with DEBUG=sessmgr alone', async () => {
    const text = "export default () => {\n  throw new Error('no database', { cause: new Error('no network') })\n}"
    const folder = folderWith({ [CONFIG]: text })
    for (const DEBUG of ['*', 'express:*,sessmgr']) {
      const { err } = await runIn(folder, MAXIMUM, { DEBUG })
      expect(err).toContain('Caused by: Error: no network')
      expect(err).toMatch(/^ {4}at .*\bcli\.js/m)
    }
    expect((await runIn(folder, MAXIMUM, { DEBUG: 'express:router' })).err).not.toMatch(/Caused by|cli\.js/)
    const client = "{ evalSha: () => Promise.reject(new Error('no network')), eval() {}, get() {} }"
    const store = `import { redisStore } from 'sessmgr/redis'\nexport default sessmgr({ store: redisStore({ client: ${client} }) })`
    const { err } = await runIn(folderWith({ [CONFIG]: ESM + store }), MAXIMUM, { DEBUG: 'sessmgr' })
    expect(err.match(/^Caused by: .*/gm)).toEqual(['Caused by: Error: no network'])
  })
})

describe('a server that is away', () => {
  const late = (what: string) =>
    `./${CONFIG} was not loaded within 10 seconds: ${what} is still waiting, perhaps for a server that is down.\n`
  const redisConfig = (port: number, listener: string, socket: string) => `
import { RedisStore } from 'connect-redis'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'
export default async function makeLimiter() {
  const client = createClient({ url: 'redis://127.0.0.1:${port}', socket: ${socket} })
  ${listener}
  await client.connect()
  return sessmgr({ store: redisStore({ client }), sessionStore: new RedisStore({ client }) })
}`
  const LISTENER = "client.on('error', () => {})"

  it('ends the command at once if its client gives up, with the address and no stack: 1', async () => {
    const port = await deadPort()
    const refused = `connect ECONNREFUSED 127.0.0.1:${port}\n`
    const failed = `./${CONFIG} could not be loaded: ${refused}`
    await expectFailed({ [CONFIG]: redisConfig(port, '', '{}') }, failed)
    await expectFailed({ [CONFIG]: redisConfig(port, LISTENER, '{ reconnectStrategy: false }') }, failed)
    const unheard = `import { connect } from 'node:net'\nconnect(${port}, '127.0.0.1')\nawait ${FOR_EVER}`
    const advice = `A client needs an error listener: client.on('error', (error) => …).\n`
    await expectFailed({ [CONFIG]: unheard }, `./${CONFIG} caused an uncaught error: ${refused}${advice}`)
    const away = await runProgram(MAXIMUM, { env: { REDIS_URL: 'redis://127.0.0.1:1' } })
    expect([away.code, away.out, away.err]).toEqual([1, '', expect.stringMatching(/Redis/)])
    expect(away.err).not.toMatch(/^\s+at /m)
  })

  it('ends the command in ten seconds if its client tries for ever, or anything else never comes: 1', async () => {
    const redis = redisConfig(await deadPort(), LISTENER, '{}')
    const hanging = 'a top-level await in it, or in a file that it imports,'
    const user = 'Finding "alice" in host.users failed: it did not respond within 10 seconds.\n'
    const warning = 'Warning: the limiter could not be closed: '
    const closing = (close: string) => `import { memoryStore, sessmgr } from 'sessmgr'
export default sessmgr({ store: { ...memoryStore(), local: false, close: ${close} } })`
    const run = (close: string) => runIn(projectWith({ [CONFIG]: closing(close) }))
    const [slow, bad] = await Promise.all([
      run(`() => ${FOR_EVER}`),
      run("async () => Promise.reject(new Error('broken'))"),
      expectFailed({ [CONFIG]: redis }, late('the function that it exports')),
      expectFailed({ [CONFIG]: `await ${FOR_EVER}\nexport default 5` }, late(hanging)),
      expectFailed({ [CONFIG]: hostWith(`() => ${FOR_EVER}`) }, user, LIST),
    ])
    // A limiter that does not close is only a warning, after a command that is done.
    expect(slow).toEqual({ code: 0, out: '1\n', err: `${warning}it took longer than 5 seconds.\n` })
    expect(bad).toEqual({ code: 0, out: '1\n', err: expect.stringContaining(`${warning}broken\n`) })
  })
})
