import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { compileBlocks } from './compile-blocks.ts'
import { type CodeBlock, codeBlocks, pages, proseOf, ROOT } from './pages.ts'

const blocks = pages().flatMap(codeBlocks)
const inLanguage = (language: string) => blocks.filter((block) => block.language === language)
const placeOf = ({ path, line }: CodeBlock) => `${path}:${line}`

/** `text` is for what is no code, or must not be compiled. */
const LANGUAGES = ['ts', 'js', 'json', 'sh', 'html', 'text']

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

  it('is there, in languages that are checked', () => {
    expect(inLanguage('ts').length).toBeGreaterThan(20)
    expect(blocks.filter(({ language }) => !LANGUAGES.includes(language)).map(placeOf)).toEqual([])
  })

  it('is found wherever a page may have it, and each block is closed', () => {
    const text = [
      '- In a list:',
      '',
      '  ```ts',
      '  const a = 1',
      '    const b = 2',
      '  ```',
      '~~~js',
      'const c = 3',
      '```',
      '~~~',
      '1. ````ts',
      '   ```',
      '   ````',
      '> ```sh',
      '> npm start',
      '> ```',
      'The end.',
    ].join('\n')
    const page = { path: 'made-up.md', text }
    expect(codeBlocks(page).map(({ path, ...block }) => block)).toEqual([
      { line: 4, language: 'ts', code: 'const a = 1\n  const b = 2\n' },
      { line: 8, language: 'js', code: 'const c = 3\n```\n' },
      { line: 12, language: 'ts', code: '```\n' },
      { line: 15, language: 'sh', code: 'npm start\n' },
    ])
    expect(proseOf(page)).toBe('- In a list:\n\nThe end.')
    expect(() => codeBlocks({ ...page, text: 'Text.\n```ts\nconst a = 1' })).toThrow(
      'made-up.md:2: the fence is not closed.',
    )
  })

  it('stands in fences everywhere, on every page', () => {
    const paths = pages().map(({ path }) => path)
    for (const path of ['README.md', 'CHANGELOG.md', '.github/PULL_REQUEST_TEMPLATE.md', 'docs/decisions']) {
      expect(
        paths.some((found) => found.startsWith(path)),
        path,
      ).toBe(true)
    }
    expect(paths.filter((path) => /^examples\/[\w-]+\/README\.md$/.test(path)).length).toBeGreaterThan(1)
    const isIndented = (prose: string) => /^( {4,}|\t)\S/m.test(prose)
    expect(pages().filter((page) => isIndented(proseOf(page)) || /<pre|<code/.test(proseOf(page)))).toEqual([])
  })

  it('compiles', () => {
    expect(errors.filter((error) => !error.startsWith('made-up'))).toEqual([])
  })

  it('would not compile with what does not exist, or with a name from another block', () => {
    expect(errors.filter((error) => error.startsWith('made-up')).sort()).toEqual([
      expect.stringMatching(/^made-up-1\.md:11: .*'maximun' does not exist/),
      expect.stringMatching(/^made-up-2\.md:10: .*'limit'/),
      expect.stringMatching(/^made-up-3\.md:10: .*'maximun' does not exist/),
      expect.stringMatching(/^made-up-4\.md:11: .*'maximun' does not exist/),
      expect.stringMatching(/^made-up-5\.md:10: .*'lst' does not exist/),
      expect.stringMatching(/^made-up-6\.md:10: .*'nothing'/),
      expect.stringMatching(/^made-up-7\.md:10: .*'NumberFeld' does not exist/),
    ])
    const cut = { path: 'cut.md', line: 10, language: 'js', code: 'export default (\n' }
    expect(compileBlocks([cut])).toEqual([expect.stringMatching(/^cut\.md:12: Expression expected/)])
  })

  it('is JSON where it says so', () => {
    for (const block of inLanguage('json')) expect(() => JSON.parse(block.code), placeOf(block)).not.toThrow()
  })
})

describe('the shell lines in the documentation', () => {
  const kinds = [
    /^(SEED_APP_PASSWORD=\S+ )?npm (start|test)$/,
    /^npm run \S+( --( --\S+)+)?$/,
    /^npm run example examples\/\S+$/,
    /^npm install /,
    /^npx sessmgr /,
    /^curl /,
    /^git clone https:\/\/github\.com\/\S+\.git( \S+)?$/,
    // Those run in scripts/check-package.mjs.
    /^for n in 1 2 3; do curl /,
  ]
  const ownSettings = /^(SESSMGR_\w+=\S+ |ADDON_ROLE_LIMITS=\S+ |REDIS_URL=\S+ |WEB_CONCURRENCY=\S+ )+npm start$/
  const others = [
    'npm install',
    'npx changeset',
    'npx changeset version',
    'npm publish',
    'npx vitest run test/docs --update',
  ]

  it('are of a kind that is checked', () => {
    const unknown = shellLines.filter(
      ({ line }) => !others.includes(line) && ![...kinds, ownSettings].some((kind) => kind.test(line)),
    )
    expect(unknown).toEqual([])
  })

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
