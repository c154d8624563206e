import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  circles,
  longParts,
  requestKeepers,
  strayStatuses,
  unevenFolders,
  unknownRules,
} from '../support/house-rules.ts'

const top = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(top, path), 'utf8')

/** The sources below a folder by their paths, relative to it. */
function sourcesOf(folder: string): ReadonlyMap<string, string> {
  const root = join(top, folder)
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll('\\', '/'))
  return new Map(
    paths.filter((path) => /\.tsx?$/.test(path)).map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  )
}

const src = sourcesOf('src')
const allPaths = readdirSync(join(top, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => relative(join(top, 'src'), join(parentPath, name)).replaceAll('\\', '/'))
const inEach = (check: (path: string, source: string) => string[]) => [...src].flatMap((one) => check(...one))
const codes = [...read('src/ground/errors.ts').matchAll(/^ {2}(\w+): \d{3},$/gm)].map(([, code = '']) => code)

describe('the files of src/', () => {
  it('make no circle by their imports, those of types counted', () => {
    expect(circles(src)).toEqual([])
  })

  it('are 3 to 12 in a folder, with its folders', () => {
    expect(unevenFolders(allPaths)).toEqual([])
  })

  it('have classes of at most 200 lines and functions of at most 80', () => {
    expect(inEach(longParts)).toEqual([])
  })

  it('leave the status of every error to ground/errors.ts', () => {
    expect(codes.length).toBeGreaterThan(10)
    expect(inEach((path, source) => (path === 'ground/errors.ts' ? [] : strayStatuses(path, source, codes)))).toEqual(
      [],
    )
  })
})

describe('what every request passes', () => {
  it('keeps no request alive', () => {
    expect(inEach(requestKeepers)).toEqual([])
  })
})

describe('the tests', () => {
  it('cite rules that docs/rules.md has', () => {
    const tests = [...sourcesOf('test')].filter(([path]) => path !== 'unit/house-rules.test.ts')
    const unknown = tests.flatMap(([path, source]) =>
      unknownRules(source, read('docs/rules.md')).map((rule) => `${path}: ${rule}`),
    )
    expect(unknown).toEqual([])
  })
})

describe('the rules of the house', () => {
  const long = (count: number) => 'x()\n'.repeat(count)

  it('find a circle, of types too', () => {
    const a = "import type { B } from '../b/b.ts'"
    const b = "export { c } from './c.tsx'"
    const good = new Map([
      ['a/a.ts', a],
      ['b/b.ts', b],
      ['b/c.tsx', "import x from 'x'"],
    ])
    expect(circles(good)).toEqual([])
    expect(circles(new Map(good).set('b/c.tsx', "let a: import('../a/a.ts').A"))).toEqual(['a/a.ts b/b.ts b/c.tsx'])
    expect(circles(new Map(good).set('b/c.tsx', "import './c.tsx'"))).toEqual(['b/c.tsx'])
  })

  it('find a class of 201 lines and a function of 81', () => {
    const fits = `class A {\n${'x = 1\n'.repeat(198)}}\nfunction f() {\n${long(78)}}`
    expect(longParts('a.ts', fits)).toEqual([])
    expect(longParts('a.ts', `class A {\n${'x = 1\n'.repeat(199)}}`)).toEqual(['a.ts: class A has 201 lines'])
    for (const head of ['function f()', 'const f = () =>', 'const f = function f()']) {
      expect(longParts('a.ts', `${head} {\n${long(79)}}`), head).toHaveLength(1)
    }
    expect(longParts('a.ts', `class A { f() {\n${long(79)}} }`)).toEqual(['a.ts: function f has 81 lines'])
  })

  it('find a rule that is not on the page', () => {
    const page = '- **Rule 1** Yes.\n- **Rule 12** No.\n'
    expect(unknownRules('rule 1: yes; Rules 12 and so on', page)).toEqual([])
    expect(unknownRules('rule 2: yes, and rule 2 once more', page)).toEqual(['rule 2'])
  })
})
