import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { compileBlocks } from './compile-blocks.ts'
import { type CodeBlock, codeBlocks, pages, ROOT } from './pages.ts'

const blocks = pages().flatMap(codeBlocks)
const inLanguage = (language: string) => blocks.filter((block) => block.language === language)
const placeOf = ({ path, line }: CodeBlock) => `${path}:${line}`

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  name: string
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

/** Lines that a shell is given, without those that only speak to the reader. */
const shellLines = inLanguage('sh').flatMap((block) =>
  block.code.split('\n').flatMap((line, index) => {
    const place = `${block.path}:${block.line + index}`
    return line.trim() === '' || line.startsWith('#') ? [] : [{ place, line }]
  }),
)

const madeUp = [
  ['ts', "import { sessmgr } from 'sessmgr'\nexport const limit = sessmgr({ maximun: 2 })\n"],
  ['ts', 'app.use(limit)\n'],
  ['js', 'app.use(sessmgr({ maximun: 2 }))\n'],
  ['js', "const { sessmgr } = require('sessmgr')\nmodule.exports = sessmgr({ maximun: 2 })\n"],
  ['js', 'limiter.sessions.lst(user.id)\n'],
  ['js', 'nothing.there()\n'],
  ['js', 'window.sessmgr.components.NumberFeld\n'],
].map(([language = '', code = ''], index) => ({ path: `made-up-${index + 1}.md`, line: 10, language, code }))

describe('the code in the documentation', () => {
  let errors: readonly string[]
  beforeAll(() => {
    errors = compileBlocks([...inLanguage('ts'), ...inLanguage('js'), ...madeUp])
  }, 240_000)

  it('compiles, and would not with names that do not exist', () => {
    expect(errors.filter((error) => !error.startsWith('made-up'))).toEqual([])
    for (const { path } of madeUp)
      expect(errors.filter((error) => error.startsWith(path)).length, path).toBeGreaterThan(0)
  })

  it('is JSON where it says so', () => {
    for (const block of inLanguage('json')) expect(() => JSON.parse(block.code), placeOf(block)).not.toThrow()
  })
})

describe('the shell lines in the documentation', () => {
  it('run scripts that there are', () => {
    const names = shellLines.flatMap(({ line }) => /^npm run (\S+)$/.exec(line)?.[1] ?? [])
    expect(names.filter((name) => !(name in manifest.scripts))).toEqual([])
  })

  it('install packages that this one is tested with', () => {
    const known = [manifest.name, ...Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })]
    const installed = shellLines.flatMap(
      ({ line }) => /^npm install (?:--save-dev )?(.*)$/.exec(line)?.[1]?.split(' ') ?? [],
    )
    expect(installed.length).toBeGreaterThan(2)
    expect(installed.filter((name) => !known.includes(name))).toEqual([])
  })
})
