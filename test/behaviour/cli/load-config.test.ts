import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EXAMPLE, runCli, runProgram } from '../../support/cli.ts'
import { ESM, folderWith, LOCAL_WARNING } from './config-folder.ts'

const LIMITER = 'sessmgr({ settings: { maximum: 42 } })'
const CJS = "const { sessmgr } = require('sessmgr')\n"
const MAXIMUM = ['settings', 'get', 'maximum']

/** In this process, for what does not depend on how Node loads the file. */
const maximumIn = (cwd: string, ...args: string[]) => runCli([...args, ...MAXIMUM], { cwd })

describe('the configuration', () => {
  it('is found under each name, and exports a limiter or a function that returns one', async () => {
    const files: Record<string, string> = {
      'sessmgr.config.js': `${ESM}export default ${LIMITER}`,
      'sessmgr.config.mjs': `${ESM}export default async function make() { return ${LIMITER} }`,
      // As a compiler writes it.
      'sessmgr.config.cjs': `${CJS}exports.__esModule = true; exports.default = ${LIMITER}`,
      'sessmgr.config.ts': `${ESM}import type { Sessmgr } from 'sessmgr'\nexport default (): Sessmgr => ${LIMITER}`,
      'sessmgr.config.mts': `${ESM}const limiter: unknown = ${LIMITER}\nexport default limiter`,
      'sessmgr.config.cts': `${CJS}const limiter: unknown = ${LIMITER}\nmodule.exports = limiter`,
    }
    const found = Object.entries(files).map(async ([name, text]) => {
      return [name, await runProgram(MAXIMUM, { cwd: folderWith({ [name]: text }) })]
    })
    const expected = { code: 0, out: '42\n', err: LOCAL_WARNING }
    expect(await Promise.all(found)).toEqual(Object.keys(files).map((name) => [name, expected]))
  })

  it('is the JavaScript one where there are several', async () => {
    const other = `${ESM}export default sessmgr({ settings: { maximum: 7 } })`
    const folder = folderWith({ 'sessmgr.config.ts': other, 'sessmgr.config.js': `${ESM}export default ${LIMITER}` })
    expect((await maximumIn(folder)).out).toBe('42\n')
  })

  it('is the one that --config names, from anywhere, before, after or amid the command', async () => {
    const folder = folderWith({ 'other.mjs': `${ESM}export default ${LIMITER}`, 'sessmgr.config.js': 'broken(' })
    expect((await maximumIn(EXAMPLE, `--config=${join(folder, 'other.mjs')}`)).out).toBe('42\n')
    const relative = join(basename(folder), 'other.mjs')
    expect((await maximumIn(dirname(folder), '--config', relative)).out).toBe('42\n')
    for (const at of [0, 1, 3]) {
      const args = MAXIMUM.toSpliced(at, 0, '--config', 'other.mjs')
      expect(await runCli(args, { cwd: folder })).toEqual({ code: 0, out: '42\n', err: LOCAL_WARNING })
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
    const err = 'The limiter has no host to find users with. Set it: sessmgr({ host: … }).\n'
    expect(await runCli(['sessions', 'list', 'alice'], { cwd: folder })).toEqual({ code: 1, out: '', err })
  })

  it('in TypeScript says what it takes where neither Node nor the application can read it', async () => {
    // Outside of this package there is no jiti to be found.
    const [none, old] = [0, 1].map(() => folderWith({ 'sessmgr.config.ts': 'export default 5 as number' }, tmpdir()))
    mkdirSync(join(old ?? '', 'node_modules/jiti'), { recursive: true })
    // As jiti 1 is: one function, which reads at once.
    writeFileSync(join(old ?? '', 'node_modules/jiti/index.js'), 'module.exports = () => () => {}')
    for (const [cwd = '', advice] of [
      [none, 'Install the jiti package'],
      [old, 'Install jiti 2 or newer'],
    ] as const) {
      const { code, err } = await runProgram(MAXIMUM, { cwd })
      expect(code).toBe(1)
      if ((process.features as { typescript?: unknown }).typescript) {
        expect(err).toContain('must default-export the limiter')
      } else expect(err).toMatch(new RegExp(`cannot read TypeScript \\(.*sessmgr\\.config\\.ts\\)\\. ${advice}`))
    }
  })

  it('that exports something else is refused: 1', async () => {
    for (const text of [
      '',
      'export const limiter = () => {}',
      'export default null',
      'export default { settings: { maximum: 2 } }',
      'export default () => (request, response, next) => next()',
      'export default async () => {}',
    ]) {
      const folder = folderWith({ 'sessmgr.config.mjs': text })
      const problem = 'must default-export the limiter that sessmgr() returned, or a function that returns it.'
      const err = `${join(folder, 'sessmgr.config.mjs')} ${problem}\n`
      expect(await maximumIn(folder), text).toEqual({ code: 1, out: '', err })
    }
  })
})

it('rule 28: a limiter whose store is of its own process alone is refused for what nobody would see, before it asks', async () => {
  const configWith = (local: string) => `import { memoryStore, sessmgr } from 'sessmgr'
export default sessmgr({ store: { ...memoryStore() ${local} } })`
  const cwd = folderWith({ 'sessmgr.config.mjs': configWith('') })
  const err =
    'Nothing was changed: this limiter uses a memory store, which other processes cannot see. ' +
    'Use a shared store: sqliteStore(), postgresStore() or redisStore().\n'
  for (const line of [
    'settings set maximum 3',
    'settings reset',
    'sessions destroy alice',
    'sessions destroy-all --yes',
    'users erase alice',
    'app-passwords create alice --name backup',
    'app-passwords revoke alice some-id --yes',
    'uninstall',
  ]) {
    expect(await runCli(line.split(' '), { cwd }), line).toEqual({ code: 1, out: '', err })
  }
  // What is only read is warned of: see above. Some stores are shared, and some do not say.
  for (const local of [', local: false', ', local: undefined']) {
    const shared = folderWith({ 'sessmgr.config.mjs': configWith(local) })
    const changed = await runCli(['settings', 'set', 'maximum', '3'], { cwd: shared })
    expect(changed).toEqual({ code: 0, out: 'maximum is now 3.\n', err: '' })
    expect((await maximumIn(shared)).err).toBe('')
  }
})
