import { posix } from 'node:path'
import ts from 'typescript'
import { importsOf } from './imports-of.ts'
import { parse } from './parse.ts'

/** Sources by path, relative to src/. */
export type Sources = ReadonlyMap<string, string>

const SMALL = 12
const MOST_LINES = { class: 200, function: 100 }
const MOST_FILES = 15
/** Words that had two meanings, or the same meaning as another word. */
const DENIED = ['gate', 'gated', 'take over', 'guard once', 'guard store', 'guarded stores', 'with http status']

/** Files through which requests other than logins pass. */
const REQUEST_PATH = /^(guard|middleware|adapters)\//
const LOGIN = /login/
/** Types of lasting objects, which may be keys of a weak collection. */
const LASTING = ['LogIn', 'SessionManager', 'SessionGuard', 'SessionStore']
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
export function circles(sources: Sources): string[] {
  const reached = new Map([...importGraph(sources)].map(([path, targets]) => [path, new Set(targets)]))
  for (const targets of reached.values()) {
    for (const target of targets) for (const further of reached.get(target) ?? []) targets.add(further)
  }
  const circleOf = (path: string) =>
    [...sources.keys()].filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path))
  return [...new Set([...sources.keys()].map((path) => circleOf(path).sort().join(' ')))].filter((it) => it !== '')
}

/** Finds files that are too small to be worth it: few lines, and importers in fewer than three folders. */
export function smallFiles(sources: Sources): string[] {
  const graph = importGraph(sources)
  const foldersOf = (path: string) =>
    new Set([...graph].filter(([, targets]) => targets.includes(path)).map(([importer]) => posix.dirname(importer)))
  const isInFolder = (path: string) => path.includes('/') && !path.startsWith('strategies/') && !path.endsWith('.d.ts')
  return [...sources]
    .filter(([path, source]) => isInFolder(path) && lines(source) < SMALL)
    .filter(([path]) => foldersOf(path).size > 0 && foldersOf(path).size < 3)
    .map(([path]) => `${path}: ${lines(sources.get(path) ?? '')} lines`)
}

/** Finds folders with too many files. */
export function fullFolders(paths: Iterable<string>): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > MOST_FILES).map(([folder, count]) => `${folder}/: ${count} files`)
}

/** Finds classes and functions that are too long. */
export function longParts(path: string, source: string): string[] {
  const file = parse(path, source)
  return nodesOf(file).flatMap((node) => {
    const kind = ts.isClassLike(node) ? 'class' : isFunction(node) ? 'function' : undefined
    if (kind === undefined) return []
    const count = lines(node.getText())
    const name = (node as ts.NamedDeclaration).name?.getText() ?? kind
    return count > MOST_LINES[kind] ? [`${path}: ${kind} ${name} has ${count} lines`] : []
  })
}

/** Finds names that contain a denied word. */
export function deniedWords(path: string, source: string): string[] {
  const names = nodesOf(parse(path, source)).filter((node) => ts.isIdentifier(node) || ts.isPrivateIdentifier(node))
  const words = (name: string) =>
    ` ${name.replaceAll(/[A-Z]+|[-_/#.]/g, ' $&').replaceAll(/[^a-z]+/gi, ' ')} `.toLowerCase()
  const isDenied = (name: string) => DENIED.some((denied) => words(name).includes(` ${denied} `))
  const found = new Set([path, ...names.map((node) => node.text)].filter(isDenied))
  return [...found].map((name) => (name === path ? path : `${path}: ${name}`))
}

/**
 * Finds code that keeps requests alive for too long, which slows down every request: weak collections whose keys may
 * not last, and object literals that contain a request or a response.
 */
export function requestKeepers(path: string, source: string): string[] {
  if (!REQUEST_PATH.test(path)) return []
  return nodesOf(parse(path, source))
    .filter((node) => {
      if (ts.isNewExpression(node) && /^Weak(Map|Set|Ref)$/.test(node.expression.getText())) {
        return !LASTING.includes(node.typeArguments?.[0]?.getText() ?? '')
      }
      const isEntry = ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)
      return (
        isEntry && !LOGIN.test(path) && ts.isObjectLiteralExpression(node.parent) && REQUESTS.test(node.name.getText())
      )
    })
    .map((node) => `${path}: ${node.getText()}`)
}

/** Finds HTTP statuses next to a code of SessmgrError, in a table or a call. */
export function strayStatuses(path: string, source: string, codes: readonly string[]): string[] {
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

/** Finds hooks whose summary in the catalogue differs from their doc comment. */
export function doubleSentences(source: string): string[] {
  const nodes = nodesOf(parse('hooks.ts', source))
  const typed = nodes.filter((node) => ts.isPropertySignature(node) || ts.isIndexSignatureDeclaration(node))
  const told = typed.map((node) =>
    plain(
      ts
        .getJSDocCommentsAndTags(node)
        .map((it) => it.getText())
        .join(' '),
    ),
  )
  return nodes.flatMap((node) => {
    if (!ts.isPropertyAssignment(node) || node.name.getText() !== 'summary') return []
    const summary = ts.isStringLiteralLike(node.initializer) ? plain(node.initializer.text) : ''
    return told.some((sentence) => sentence.startsWith(summary)) ? [] : [summary]
  })
}

/** Returns the words of a comment or a sentence, without its markup. */
function plain(text: string): string {
  return text
    .replaceAll(/[*/`]|\s+/g, ' ')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ (?=[.,;:)])|^ | $/g, '')
}

/** Finds rules that a text cites by number but the page of rules does not contain. */
export function unknownRules(text: string, page: string): string[] {
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
