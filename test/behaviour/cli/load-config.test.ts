import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findConfig, loadConfig } from '../../../src/cli/load-config.ts'
import { EXAMPLE, runCli, runProgram } from '../../support/cli.ts'
import { ESM, folderWith, LOCAL_WARNING } from './config-folder.ts'

const LIMITER = 'sessmgr({ settings: { maximum: 42 } })'
const CJS = "const { sessmgr } = require('sessmgr')\n"

const MAXIMUM = ['settings', 'get', 'maximum']

/** In this process, for what does not depend on how Node loads the file. */
const maximumIn = (cwd: string, ...args: string[]) => runCli([...args, ...MAXIMUM], { cwd })

describe('the configuration', () => {
  it.each([
    ['sessmgr.config.js', 'a limiter', `${ESM}export default ${LIMITER}`],
    ['sessmgr.config.mjs', 'a limiter', `${ESM}export default ${LIMITER}`],
    ['sessmgr.config.cjs', 'a limiter', `${CJS}module.exports = ${LIMITER}`],
    [
      'sessmgr.config.cjs',
      'a default as a compiler writes it',
      `${CJS}exports.__esModule = true; exports.default = ${LIMITER}`,
    ],
    [
      'sessmgr.config.ts',
      'a limiter',
      `${ESM}const maximum: number = 42\nexport default sessmgr({ settings: { maximum } })`,
    ],
    ['sessmgr.config.mts', 'a limiter', `${ESM}const limiter: unknown = ${LIMITER}\nexport default limiter`],
    ['sessmgr.config.cts', 'a limiter', `${CJS}const limiter: unknown = ${LIMITER}\nmodule.exports = limiter`],
    ['sessmgr.config.mjs', 'a factory', `${ESM}export default () => ${LIMITER}`],
    [
      'sessmgr.config.mjs',
      'an asynchronous factory',
      `${ESM}export default async function make() { return ${LIMITER} }`,
    ],
    ['sessmgr.config.cjs', 'a factory', `${CJS}module.exports = () => ${LIMITER}`],
    [
      'sessmgr.config.ts',
      'a factory',
      `${ESM}import type { Sessmgr } from 'sessmgr'\nexport default (): Sessmgr => ${LIMITER}`,
    ],
  ])('is found as %s that exports %s', async (name, _what, text) => {
    expect(await runProgram(MAXIMUM, { cwd: folderWith({ [name]: text }) })).toEqual({
      code: 0,
      out: '42\n',
      err: LOCAL_WARNING,
    })
  })

  it('is the JavaScript one where there are several', async () => {
    const other = `${ESM}export default sessmgr({ settings: { maximum: 7 } })`
    const folder = folderWith({ 'sessmgr.config.ts': other, 'sessmgr.config.js': `${ESM}export default ${LIMITER}` })
    expect((await maximumIn(folder)).out).toBe('42\n')
  })

  it('is the one that --config names, from anywhere', async () => {
    const folder = folderWith({ 'other.mjs': `${ESM}export default ${LIMITER}`, 'sessmgr.config.js': 'broken(' })
    expect((await maximumIn(folder, '--config', 'other.mjs')).out).toBe('42\n')
    expect((await maximumIn(EXAMPLE, `--config=${join(folder, 'other.mjs')}`)).out).toBe('42\n')
    const relative = join(basename(folder), 'other.mjs')
    expect((await maximumIn(dirname(folder), '--config', relative)).out).toBe('42\n')
  })

  it('may be named before, after or amid the command', async () => {
    const cwd = folderWith({ 'other.mjs': `${ESM}export default ${LIMITER}` })
    for (const at of [0, 1, 2, 3]) {
      const args = MAXIMUM.toSpliced(at, 0, '--config', 'other.mjs')
      expect(await runCli(args, { cwd })).toEqual({ code: 0, out: '42\n', err: LOCAL_WARNING })
    }
  })

  it('that is missing is said in one sentence with the names and an example: 1', async () => {
    const folder = folderWith({ 'sessmgr.config.json': '{}' })
    const { code, out, err } = await maximumIn(folder)
    expect([code, out]).toEqual([1, ''])
    for (const extension of ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'])
      expect(err).toContain(`sessmgr.config.${extension}`)
    expect(err).toContain(folder)
    expect(err).toContain('export default sessmgr(')
    expect(err).not.toMatch(/^\s+at /m)
    const named = await maximumIn(folder, '--config', 'nowhere.js')
    expect([named.code, named.err.includes(join(folder, 'nowhere.js'))]).toEqual([1, true])
  })

  it('without a host knows no users, and says what to configure: 1', async () => {
    const folder = folderWith({ 'sessmgr.config.js': `${ESM}export default ${LIMITER}` })
    const { code, out, err } = await runCli(['sessions', 'list', 'alice'], { cwd: folder })
    expect([code, out]).toEqual([1, ''])
    expect(err).toBe('The limiter has no host to find users with. Set it: sessmgr({ host: … }).\n')
  })

  it('in TypeScript says what it takes where neither Node nor the application can read it', async () => {
    // Outside of this package there is no jiti to be found.
    const folder = folderWith({ 'sessmgr.config.ts': 'export default 5 as number' }, tmpdir())
    const { code, err } = await runProgram(MAXIMUM, { cwd: folder })
    expect(code).toBe(1)
    if ((process.features as { typescript?: unknown }).typescript)
      expect(err).toContain('must default-export the limiter')
    else expect(err).toMatch(/cannot read TypeScript \(.*sessmgr\.config\.ts\)\. Install the jiti package/)
  })

  it('in TypeScript says which jiti it takes where the application has an older one', async () => {
    const folder = folderWith({ 'sessmgr.config.ts': 'export default 5 as number' }, tmpdir())
    mkdirSync(join(folder, 'node_modules/jiti'), { recursive: true })
    // As jiti 1 is: one function, which reads at once.
    writeFileSync(join(folder, 'node_modules/jiti/index.js'), 'module.exports = () => () => {}')
    const { code, err } = await runProgram(MAXIMUM, { cwd: folder })
    expect(code).toBe(1)
    if ((process.features as { typescript?: unknown }).typescript)
      expect(err).toContain('must default-export the limiter')
    else expect(err).toMatch(/cannot read TypeScript \(.*sessmgr\.config\.ts\)\. Install jiti 2 or newer/)
  })
})

describe('a configuration that exports something else', () => {
  it.each([
    ['nothing', ''],
    ['a named limiter only', 'export const limiter = () => {}'],
    ['a number', 'export default 5'],
    ['null', 'export default null'],
    ['the options', 'export default { settings: { maximum: 2 } }'],
    ['a middleware of somebody else', 'export default () => (request, response, next) => next()'],
    ['a function that returns nothing', 'export default () => {}'],
    ['a function that returns a promise of nothing', 'export default async () => {}'],
  ])('is refused: %s', async (_what, text) => {
    const folder = folderWith({ 'sessmgr.config.mjs': text })
    await expect(loadConfig(findConfig(folder))).rejects.toMatchObject({
      name: 'CliError',
      exitCode: 1,
      message: `${join(folder, 'sessmgr.config.mjs')} must default-export the limiter that sessmgr() returned, or a function that returns it.`,
    })
  })
})
