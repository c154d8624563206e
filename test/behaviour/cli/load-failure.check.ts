import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliResult, runProgram } from '../../support/cli.ts'
import { ESM, folderWith, LOCAL_WARNING, projectWith, see } from './config-folder.ts'

const MAXIMUM = ['settings', 'get', 'maximum']

/** Runs a command in a folder; its path becomes a dot. */
async function runIn(folder: string, env: Record<string, string> = {}): Promise<CliResult> {
  const { err, ...rest } = await runProgram(MAXIMUM, { cwd: folder, env })
  return {
    ...rest,
    err: err
      .replaceAll(`file://${folder}/node_modules`, 'node_modules')
      .replaceAll(`file://${folder}`, '.')
      .replaceAll(folder, '.'),
  }
}

const failed = (err: string, help = '') => ({ code: 1, out: '', err: err + help })

describe('an ES module in a CommonJS project', () => {
  const PROJECT = 'this project is CommonJS ("type": "commonjs" in package.json)'
  const ways = (name: string) =>
    `Rename it to ${name}, or write CommonJS, with require() and module.exports = limiter.\n`

  it('is said in a sentence, with the two ways out', async () => {
    const why = `./sessmgr.config.js uses import or export, but ${PROJECT}.\n${ways('sessmgr.config.mjs')}`
    for (const text of [
      `${ESM}export default sessmgr()`,
      "const { sessmgr } = require('sessmgr')\nexport default sessmgr()",
      'module.exports = import.meta.url',
    ]) {
      expect(await runIn(projectWith({ 'sessmgr.config.js': text }))).toEqual(failed(why))
    }
    const named = folderWith({ 'sessmgr.config.cjs': `${ESM}export default sessmgr()` })
    const byName = './sessmgr.config.cjs uses import or export, but its name ends in .cjs.\n'
    expect(await runIn(named)).toEqual(failed(byName + ways('sessmgr.config.mjs')))
    const other = projectWith({ 'sessmgr.config.mjs': `${ESM}export default sessmgr()` })
    expect(await runIn(other)).toEqual({ code: 0, out: '1\n', err: LOCAL_WARNING })
  })

  it('may be one that the configuration requires or imports, whether it waits for that or not', async () => {
    const advice = 'Rename it to host.mjs, or write CommonJS, with require() and module.exports.\n'
    for (const [name, text] of [
      ['sessmgr.config.cjs', "require('./host.js')"],
      ['sessmgr.config.mjs', "import './host.js'"],
      ['sessmgr.config.mjs', "import('./host.js')\nawait new Promise(() => {})"],
    ] as const) {
      const why = `./${name} could not be loaded: ./host.js uses import or export, but ${PROJECT}.\n${advice}`
      expect(await runIn(projectWith({ [name]: text, 'host.js': 'export const host = {}' }))).toEqual(failed(why))
    }
  })
})

describe('a configuration that cannot be loaded', () => {
  const broken = 'const maximum = 5\nfoo bar\n'
  it.each<[string, string, string, string]>([
    ['an error of syntax in an ES module', 'mjs', broken, ".mjs:2: SyntaxError: Unexpected identifier 'bar'"],
    ['an error of syntax in CommonJS', 'cjs', broken, ".cjs:2: SyntaxError: Unexpected identifier 'bar'"],
    [
      'a package that is not there',
      'mjs',
      "import 'no-such-package'",
      ".mjs could not be loaded: Cannot find package 'no-such-package' imported from ./sessmgr.config.mjs",
    ],
    [
      'a package that is not there for require()',
      'cjs',
      "require('no-such-package')",
      ".cjs could not be loaded: Cannot find module 'no-such-package'\n    at Object.<anonymous> (./sessmgr.config.cjs:1:1)",
    ],
    [
      'an error that it throws',
      'mjs',
      "function check() {\n  throw new TypeError('REDIS_URL is not set')\n}\ncheck()",
      '.mjs could not be loaded: TypeError: REDIS_URL is not set\n' +
        '    at check (./sessmgr.config.mjs:2:9)\n    at ./sessmgr.config.mjs:4:1',
    ],
    [
      'a promise of its function that rejects',
      'mjs',
      "export default async function make() {\n  await null\n  throw new Error('no database')\n}",
      '.mjs could not be loaded: no database\n    at make (./sessmgr.config.mjs:3:9)',
    ],
    ['nothing that it throws', 'mjs', 'throw undefined', '.mjs could not be loaded: undefined'],
    [
      'an option that there is not',
      'mjs',
      `${ESM}export default sessmgr({ stoer: 1 })`,
      `.mjs could not be loaded: There is no option "stoer". Did you mean "store"?\n${see('invalid_option').trimEnd()}`,
    ],
  ])('says which file it is, and no internals: %s: 1', async (_what, extension, text, sentence) => {
    const result = await runIn(folderWith({ [`sessmgr.config.${extension}`]: text }))
    // Nodes differ in what they write before an asynchronous function.
    const err = result.err.replace(' at async make', ' at make')
    expect({ ...result, err }).toEqual(failed(`./sessmgr.config${sentence}\n`))
  })

  it('says so of a file that it imports, as far as Node knows it, of TypeScript, and of a folder', async () => {
    const imported = await runIn(folderWith({ 'sessmgr.config.mjs': "import './host.mjs'", 'host.mjs': broken }))
    const advice = 'Find the error with: node --check <file>'
    const why = `SyntaxError in an imported file: Unexpected identifier 'bar'. ${advice}`
    expect(imported).toEqual(failed(`./sessmgr.config.mjs could not be loaded: ${why}\n`))
    const json = await runIn(folderWith({ 'sessmgr.config.mjs': "\nJSON.parse('{')" }))
    expect(json.err).toMatch(
      /^\.\/sessmgr\.config\.mjs could not be loaded: SyntaxError: .* in JSON .*\n {4}at .*:2:6\n$/,
    )
    const { code, err } = await runIn(folderWith({ 'sessmgr.config.ts': 'const a: number = 5\nfoo bar' }))
    expect([code, err]).toEqual([1, expect.stringMatching(/\.\/sessmgr\.config\.ts:2\b/)])
    expect(err.trimEnd().split('\n').length).toBeLessThanOrEqual(3)
    const folder = folderWith({})
    mkdirSync(join(folder, 'sessmgr.config.js'))
    expect(await runIn(folder)).toEqual(failed('./sessmgr.config.js cannot be read (EISDIR).\n'))
  })

  it('says that an error of a timer or a promise was not caught', async () => {
    for (const text of [
      "setTimeout(() => {\n  throw new Error('later')\n}, 10)",
      "Promise.reject(\n  new Error('later'))",
    ]) {
      const { code, err } = await runIn(folderWith({ 'sessmgr.config.mjs': `${text}\nawait new Promise(() => {})` }))
      const [sentence, place, ...rest] = err.trimEnd().split('\n')
      expect([code, sentence, rest]).toEqual([1, './sessmgr.config.mjs caused an uncaught error: later', []])
      expect(place).toMatch(/^ {4}at .*\.\/sessmgr\.config\.mjs:2:\d+\)?$/)
    }
  })

  it('shows the whole stack, and the cause once, with DEBUG=sessmgr alone', async () => {
    const text = "export default () => {\n  throw new Error('no database', { cause: new Error('no network') })\n}"
    const folder = folderWith({ 'sessmgr.config.mjs': text })
    for (const DEBUG of ['*', 'express:*,sessmgr']) {
      const { err } = await runIn(folder, { DEBUG })
      expect(err).toContain('Caused by: Error: no network')
      expect(err).toMatch(/^ {4}at .*\bcli\.js/m)
    }
    expect((await runIn(folder, { DEBUG: 'express:router' })).err).not.toMatch(/Caused by|cli\.js/)
    const client = "{ evalSha: () => Promise.reject(new Error('no network')), eval() {}, get() {} }"
    const failing = `${ESM}import { redisStore } from 'sessmgr/redis'\nexport default sessmgr({ store: redisStore({ client: ${client} }) })`
    const { err } = await runIn(folderWith({ 'sessmgr.config.mjs': failing }), { DEBUG: 'sessmgr' })
    expect(err.match(/^Caused by: .*/gm)).toEqual(['Caused by: Error: no network'])
  })
})
