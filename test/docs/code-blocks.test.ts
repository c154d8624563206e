import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readmeProgram } from '../../scripts/readme-program.mjs'
import { compileBlocks, parseJavaScript } from './compile-blocks.ts'
import { type CodeBlock, codeBlocks, pages, ROOT } from './pages.ts'

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
  "import { sessmgr } from 'sessmgr'\nexport const limit = sessmgr({ maximun: 2 })\n",
  'app.use(limit)\n',
].map((code, index) => ({ path: `made-up-${index + 1}.md`, line: 10, language: 'ts', code }))

describe('the code in the documentation', () => {
  let errors: readonly string[]
  beforeAll(() => {
    errors = compileBlocks([...inLanguage('ts'), ...madeUp])
  }, 240_000)

  it('is there, in languages that are checked', () => {
    expect(inLanguage('ts').length).toBeGreaterThan(20)
    expect(blocks.filter(({ language }) => !LANGUAGES.includes(language)).map(placeOf)).toEqual([])
  })

  it('compiles', () => {
    expect(errors.filter((error) => !error.startsWith('made-up'))).toEqual([])
  })

  it('would not compile with an option that does not exist, or with a name from another block', () => {
    expect(errors.filter((error) => error.startsWith('made-up'))).toEqual([
      expect.stringMatching(/^made-up-1\.md:11: .*'maximun' does not exist/),
      expect.stringMatching(/^made-up-2\.md:10: .*'limit'/),
    ])
  })

  it('is JavaScript where it says so', () => {
    expect(inLanguage('js').flatMap(parseJavaScript)).toEqual([])
    expect(parseJavaScript({ path: 'made-up.md', line: 1, language: 'js', code: 'export default (' })).not.toEqual([])
  })

  it('is JSON where it says so', () => {
    for (const block of inLanguage('json')) expect(() => JSON.parse(block.code), placeOf(block)).not.toThrow()
  })
})

describe('the shell lines in the documentation', () => {
  const kinds = [
    /^(SEED_APP_PASSWORD=\S+ )?npm (start|test)$/,
    /^npm run \S+$/,
    /^npm install /,
    /^npx sessmgr /,
    /^curl /,
  ]
  const ownSettings = /^(SESSMGR_\w+=\S+ |REDIS_URL=\S+ |WEB_CONCURRENCY=\S+ )+npm start$/
  const others = ['npx changeset', 'npx typedoc', 'npx vitest run test/docs --update']
  // Those run in test/readme.test.ts.
  const tryOut = readmeProgram().tryOut.split('\n')

  it('are of a kind that is checked', () => {
    const unknown = shellLines.filter(
      ({ line }) => ![...others, ...tryOut].includes(line) && ![...kinds, ownSettings].some((kind) => kind.test(line)),
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
