import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { importsOf } from '../support/imports-of.ts'
import { parse } from '../support/parse.ts'

/** Sources by path, relative to src/. */
type Sources = ReadonlyMap<string, string>

const MOST_LINES = { file: 450, class: 200, function: 80 }
const ENTRIES = { least: 3, most: 12 }
/** Functions that are longer than the rule allows: each returns one object with many short methods. */
const LONG: Readonly<Record<string, number>> = {
  installGuard: 93,
  createSiteOption: 92,
  createRouter: 86,
  sessmgr: 98,
  createActivity: 98,
  createAddons: 99,
  freemiusLicensing: 99,
  createLicenseStore: 91,
  createAdmin: 96,
  siteOptionsRoutes: 85,
}
/** Files through which requests other than logins pass. */
const REQUEST_PATH = /^(door|middleware|adapters)\//
const LOGIN = /login|^adapters\/(fetch-calls|better-auth)/
/** Types of lasting objects, which may be keys of a weak collection. */
const LASTING = ['LogIn', 'SessionManager', 'SessionGuard', 'SessionStore']
/** A `Request` of the Fetch standard, on which nothing can be kept: some frameworks hand over a proxy of it. */
const FETCH_REQUEST = 'FetchRequest'
const REQUESTS = /^(request|response|req|res|raw|reply|ctx|context|visit)$/

/** Lists for each file the files of src/ that it imports, those it takes only types from included. */
function importGraph(sources: Sources): ReadonlyMap<string, readonly string[]> {
  const targets = (path: string, source: string) =>
    importsOf(parse(path, source))
      .map(({ from = '' }) => (from.startsWith('.') ? posix.join(posix.dirname(path), from) : ''))
      .filter((target) => sources.has(target))
  return new Map([...sources].map(([path, source]) => [path, targets(path, source)]))
}

/** Finds the circles of files: each of them reaches every other by imports. */
function circles(sources: Sources): string[] {
  const reached = new Map([...importGraph(sources)].map(([path, targets]) => [path, new Set(targets)]))
  for (const targets of reached.values()) {
    for (const target of targets) for (const further of reached.get(target) ?? []) targets.add(further)
  }
  const circleOf = (path: string) =>
    [...sources.keys()].filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path))
  return [...new Set([...sources.keys()].map((path) => circleOf(path).sort().join(' ')))].filter((it) => it !== '')
}

/** Finds folders with too few or too many entries. The folder of the entry points is no chapter. */
function unevenFolders(paths: Iterable<string>): string[] {
  const entries = new Map<string, Set<string>>()
  for (const path of paths) {
    for (
      let entry = path, folder = posix.dirname(path);
      folder !== '.';
      entry = folder, folder = posix.dirname(entry)
    ) {
      entries.set(folder, (entries.get(folder) ?? new Set()).add(entry))
    }
  }
  return [...entries]
    .filter(([, { size }]) => size < ENTRIES.least || size > ENTRIES.most)
    .map(([folder, { size }]) => `${folder}/: ${size} entries`)
}

/** Finds classes and functions that are too long. */
function longParts(path: string, source: string): string[] {
  const file = parse(path, source)
  return nodesOf(file).flatMap((node) => {
    const kind = ts.isClassLike(node) ? 'class' : isFunction(node) ? 'function' : undefined
    if (kind === undefined) return []
    const count = lines(node.getText())
    const name = (node as ts.NamedDeclaration).name?.getText() ?? kind
    return count > Math.max(MOST_LINES[kind], (kind === 'function' && LONG[name]) || 0)
      ? [`${path}: ${kind} ${name} has ${count} lines`]
      : []
  })
}

/**
 * Finds code that keeps requests alive for too long, which slows down every request: weak collections whose keys may
 * not last, and object literals that contain a request or a response.
 */
function requestKeepers(path: string, source: string): string[] {
  if (!REQUEST_PATH.test(path)) return []
  return nodesOf(parse(path, source))
    .filter((node) => {
      if (ts.isNewExpression(node) && /^Weak(Map|Set|Ref)$/.test(node.expression.getText())) {
        return ![...LASTING, FETCH_REQUEST].includes(node.typeArguments?.[0]?.getText() ?? '')
      }
      const isEntry = ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)
      return (
        isEntry && !LOGIN.test(path) && ts.isObjectLiteralExpression(node.parent) && REQUESTS.test(node.name.getText())
      )
    })
    .map((node) => `${path}: ${node.getText()}`)
}

/** Finds HTTP statuses next to a code of SessmgrError, in a table or a call. */
function strayStatuses(path: string, source: string, codes: readonly string[]): string[] {
  const isStatus = (node: ts.Node) => ts.isNumericLiteral(node) && /^[45]\d\d$/.test(node.text)
  const isCode = (node: ts.Node) => 'text' in node && codes.includes(String(node.text))
  return nodesOf(parse(path, source))
    .filter((node) => {
      if (ts.isPropertyAssignment(node)) return isCode(node.name) && isStatus(node.initializer)
      const values = ts.isCallExpression(node) || ts.isNewExpression(node) ? node.arguments : undefined
      return values?.some(isStatus) && values.some(isCode)
    })
    .map((node) => `${path}: ${node.getText()}`)
}

/** Finds rules that a text cites by number but the page of rules does not contain. */
function unknownRules(text: string, page: string): string[] {
  const known = new Set([...page.matchAll(/^- \*\*Rule (\d+)\*\*/gm)].map(([, number]) => number))
  const cited = [...text.matchAll(/\brules? (\d+)\b/gi)].map(([, number]) => number)
  return [...new Set(cited)].filter((number) => !known.has(number)).map((number) => `rule ${number}`)
}

const known = new WeakMap<ts.Node, ts.Node[]>()

function nodesOf(file: ts.Node): ts.Node[] {
  const nodes = known.get(file) ?? []
  if (nodes.length > 0) return nodes
  known.set(file, nodes)
  const visit = (node: ts.Node): void => {
    nodes.push(node)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return nodes
}

function isFunction(node: ts.Node): boolean {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined
}

function lines(source: string): number {
  return source.trimEnd().split('\n').length
}

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

  it('match no string with a RegExp or an empty object in another object', () => {
    for (const any of [/b/, /a/, {}]) expect({ text: 'a' }).not.toMatchObject({ text: any })
    expect([{ text: 'a' }, /a/]).toMatchObject([{}, /a/])
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
