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

  it.each([
    ['import and export', `${ESM}export default sessmgr()`],
    ['export alone', "const { sessmgr } = require('sessmgr')\nexport default sessmgr()"],
    ['import.meta alone', 'module.exports = import.meta.url'],
  ])('is said in a sentence, with the two ways out: %s', async (_what, text) => {
    const folder = projectWith({ 'sessmgr.config.js': text })
    expect(await runIn(folder)).toEqual(
      failed(`./sessmgr.config.js uses import or export, but ${PROJECT}.\n${ways('sessmgr.config.mjs')}`),
    )
  })

  it('is well under the one name or written the other way', async () => {
    const ways = {
      'sessmgr.config.mjs': `${ESM}export default sessmgr()`,
      'sessmgr.config.js': "const { sessmgr } = require('sessmgr')\nmodule.exports = sessmgr()",
    }
    for (const [name, text] of Object.entries(ways)) {
      expect(await runIn(projectWith({ [name]: text }))).toEqual({ code: 0, out: '1\n', err: LOCAL_WARNING })
    }
  })

  it('may be one by its name, too', async () => {
    const folder = folderWith({ 'sessmgr.config.cjs': `${ESM}export default sessmgr()` })
    const why = './sessmgr.config.cjs uses import or export, but its name ends in .cjs.\n'
    expect(await runIn(folder)).toEqual(failed(why + ways('sessmgr.config.mjs')))
  })

  it('may be one that the configuration requires or imports, whether it waits for that or not', async () => {
    const host = 'export const host = {}'
    const required = projectWith({ 'sessmgr.config.cjs': "require('./host.js')", 'host.js': host })
    const imported = projectWith({ 'sessmgr.config.mjs': "import './host.js'", 'host.js': host })
    const advice = `Rename it to host.mjs, or write CommonJS, with require() and module.exports.\n`
    const why = `./host.js uses import or export, but ${PROJECT}.\n${advice}`
    expect(await runIn(required)).toEqual(failed(`./sessmgr.config.cjs could not be loaded: ${why}`))
    expect(await runIn(imported)).toEqual(failed(`./sessmgr.config.mjs could not be loaded: ${why}`))
    const unheeded = "import('./host.js')\nawait new Promise(() => {})"
    const ignored = projectWith({ 'sessmgr.config.mjs': unheeded, 'host.js': host })
    expect(await runIn(ignored)).toEqual(failed(`./sessmgr.config.mjs could not be loaded: ${why}`))
  })
})

describe('a configuration that cannot be loaded', () => {
  const broken = 'const maximum = 5\nfoo bar\n'
  it.each<[string, string, string, string, string?]>([
    ['an error of syntax in an ES module', 'mjs', broken, ".mjs:2: SyntaxError: Unexpected identifier 'bar'"],
    ['an error of syntax in CommonJS', 'cjs', broken, ".cjs:2: SyntaxError: Unexpected identifier 'bar'"],
    [
      'an import that is not there',
      'mjs',
      "\nimport { nope } from 'node:fs'",
      ".mjs:2: SyntaxError: The requested module 'node:fs' does not provide an export named 'nope'",
    ],
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
      'an error of its function',
      'mjs',
      "export default () => {\n  throw new Error('no database')\n}",
      '.mjs could not be loaded: no database\n    at FUNCTION (./sessmgr.config.mjs:2:9)',
    ],
    [
      'a promise of its function that rejects',
      'mjs',
      "export default async () => {\n  await null\n  throw new Error('no database')\n}",
      '.mjs could not be loaded: no database\n    at FUNCTION (./sessmgr.config.mjs:3:9)',
    ],
    ['a text that it throws', 'mjs', "throw 'no'", ".mjs could not be loaded: 'no'"],
    ['nothing that it throws', 'mjs', 'throw undefined', '.mjs could not be loaded: undefined'],
    [
      'an option that there is not',
      'mjs',
      `${ESM}export default sessmgr({ stoer: 1 })`,
      '.mjs could not be loaded: There is no option "stoer". Did you mean "store"?',
      see('invalid_option'),
    ],
  ])('says which file it is, and no internals: %s: 1', async (_what, extension, text, sentence, help) => {
    const result = await runIn(folderWith({ [`sessmgr.config.${extension}`]: text }))
    // Nodes differ in what they call a function without a name.
    const err = result.err.replace(/ at (async )?(\S+ )?\(?(\S+:[23]:9)\)?$/m, (line, _async, name, place) =>
      /check|Timeout/.test(name ?? '') ? line : ` at FUNCTION (${place})`,
    )
    expect({ ...result, err }).toEqual(failed(`./sessmgr.config${sentence}\n`, help))
  })

  it('says so of a file that it imports, as far as Node knows it', async () => {
    const text = { 'sessmgr.config.mjs': "import './host.mjs'", 'host.mjs': broken }
    const advice = 'Find the error with: node --check <file>'
    expect(await runIn(folderWith(text))).toEqual(
      failed(
        `./sessmgr.config.mjs could not be loaded: SyntaxError in an imported file: Unexpected identifier 'bar'. ${advice}\n`,
      ),
    )
    const json = "import { readFileSync } from 'node:fs'\nJSON.parse('{')"
    const { err } = await runIn(folderWith({ 'sessmgr.config.mjs': json }))
    expect(err).toMatch(/^\.\/sessmgr\.config\.mjs could not be loaded: SyntaxError: .* in JSON .*\n {4}at .*:2:6\n$/)
  })

  it('says so of a mistake in TypeScript, with the place', async () => {
    for (const extension of ['ts', 'mts']) {
      const { code, err } = await runIn(folderWith({ [`sessmgr.config.${extension}`]: `const a: number = 5\nfoo bar` }))
      expect(code).toBe(1)
      expect(err).toMatch(new RegExp(`\\./sessmgr\\.config\\.${extension}:2\\b`))
      expect(err.trimEnd().split('\n').length).toBeLessThanOrEqual(3)
    }
  })

  it('says that it is no file to be read', async () => {
    const folder = folderWith({})
    mkdirSync(join(folder, 'sessmgr.config.js'))
    expect(await runIn(folder)).toEqual(failed('./sessmgr.config.js cannot be read (EISDIR).\n'))
  })

  it.each([
    ['a timer', "setTimeout(() => {\n  throw new Error('later')\n}, 10)"],
    ['a promise', "Promise.reject(\n  new Error('later'))"],
  ])('says that an error was not caught: of %s', async (_what, text) => {
    const { code, err } = await runIn(folderWith({ 'sessmgr.config.mjs': `${text}\nawait new Promise(() => {})` }))
    const [sentence, place, ...rest] = err.trimEnd().split('\n')
    expect([code, sentence, rest]).toEqual([1, './sessmgr.config.mjs caused an uncaught error: later', []])
    expect(place).toMatch(/^ {4}at .*\.\/sessmgr\.config\.mjs:2:\d+\)?$/)
  })

  it('shows the whole stack, and the cause, with DEBUG=sessmgr alone', async () => {
    const text = "export default () => {\n  throw new Error('no database', { cause: new Error('no network') })\n}"
    const folder = folderWith({ 'sessmgr.config.mjs': text })
    for (const DEBUG of ['sessmgr', '*', 'express:*,sessmgr']) {
      const { err } = await runIn(folder, { DEBUG })
      expect(err).toContain('Caused by: Error: no network')
      expect(err).toMatch(/^ {4}at .*\bcli\.js/m)
    }
    expect((await runIn(folder, { DEBUG: 'express:router' })).err).not.toMatch(/Caused by|cli\.js/)
  })

  it('shows the cause of a failing store once', async () => {
    const client = "{ evalSha: () => Promise.reject(new Error('no network')), eval() {}, get() {} }"
    const text = `import { redisStore } from 'sessmgr/redis'\n${ESM}export default sessmgr({ store: redisStore({ client: ${client} }) })`
    const { err } = await runIn(folderWith({ 'sessmgr.config.mjs': text }), { DEBUG: 'sessmgr' })
    expect(err.match(/^Caused by: .*/gm)).toEqual(['Caused by: Error: no network'])
  })
})
