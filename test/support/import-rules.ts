import { dirname, posix } from 'node:path'
import ts from 'typescript'

/** Floor of each folder: a file imports its own folder and lower floors, never an equal or higher one. */
export const FLOORS: Readonly<Record<string, number>> = {
  hooks: 0,
  host: 1,
  options: 1,
  sessions: 1,
  strategies: 2,
  auth: 2,
  addons: 2,
  comments: 2,
  stores: 3,
  limiter: 4,
  middleware: 5,
  routes: 6,
  admin: 6,
  service: 7,
  adapters: 8,
  cli: 8,
  testing: 8,
}

/** One file a door of the package; every other file beside them is ground that all may stand on. */
export const DOORS: readonly string[] = [
  'index.ts',
  'redis.ts',
  'comments.ts',
  'licensing.ts',
  'fastify.ts',
  'koa.ts',
  'explicit.ts',
  'testing.ts',
]

/** The program behind the package's command. It has to run something: what stands in its own folder. */
const PROGRAM = 'cli.ts'

/** Packages that only the web floors may know. A Redis client is known by its shape alone, everywhere. */
const FRAMEWORKS =
  /^(express|express-session|passport|fastify|koa|koa-.*)(\/|$)|^passport-|^@fastify\/|^@types\/(express|passport|koa)/
const REDIS_CLIENTS = /^(redis|ioredis|@redis\/.*)(\/|$)/

interface Import {
  readonly from: string
  readonly typeOnly: boolean
}

/** Tells in sentences how a file under src/ breaks the house rules on imports. `path` is relative to src/. */
export function importViolations(path: string, source: string): string[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  const folder = folderOf(path)
  const floor = folder === '' ? 0 : FLOORS[folder]
  if (floor === undefined) return [`src/${folder}/ has no floor`]
  if (DOORS.includes(path))
    return file.statements.filter((it) => !isReExport(it)).map(() => `${path}: a door only re-exports`)

  const imports = importsOf(file)
  if (path === PROGRAM) {
    return imports.filter(({ from }) => !from.startsWith('./cli/')).map(({ from }) => `${path}: imports ${from}`)
  }
  return imports.flatMap(({ from, typeOnly }) => {
    if (!from.startsWith('.')) return packageViolations(path, from, floor)
    const target = posix.join(posix.dirname(path), from)
    const targetFolder = folderOf(target)
    if (target === '../package.json') return []
    if (DOORS.includes(target) || target === PROGRAM) return [`${path}: imports the door ${target}`]
    if (targetFolder === '' || targetFolder === folder) return []
    if (folder === 'hooks' && typeOnly) return []
    const targetFloor = FLOORS[targetFolder] ?? Number.POSITIVE_INFINITY
    if (folder !== '' && targetFloor < floor) return []
    return [`${path}: floor ${floor} may not import ${target}`]
  })
}

function packageViolations(path: string, from: string, floor: number): string[] {
  if (REDIS_CLIENTS.test(from)) return [`${path}: knows a Redis client (${from})`]
  if (floor <= 4 && FRAMEWORKS.test(from)) return [`${path}: knows a web framework (${from})`]
  if (dirname(path) === 'hooks' && from.startsWith('node:')) return [`${path}: must run in the browser too (${from})`]
  return []
}

const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : '')

function isReExport(statement: ts.Statement): boolean {
  return ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined
}

/** Every import of a file: static and dynamic ones, re-exports, types in place, and require. */
function importsOf(file: ts.SourceFile): Import[] {
  const found: Import[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const typeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      found.push({ from: node.moduleSpecifier.text, typeOnly })
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      found.push({ from: node.moduleSpecifier.text, typeOnly: node.isTypeOnly })
    } else if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    ) {
      found.push({ from: node.argument.literal.text, typeOnly: true })
    } else if (ts.isCallExpression(node) && isLoading(node.expression)) {
      const [first] = node.arguments
      if (first && ts.isStringLiteral(first)) found.push({ from: first.text, typeOnly: false })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function isLoading(expression: ts.Expression): boolean {
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return true
  return ts.isIdentifier(expression) && expression.text === 'require'
}
