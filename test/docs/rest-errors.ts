import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { SessmgrError, type SessmgrErrorCode, STATUS } from '../../src/ground/errors.ts'
import { restErrorOf } from '../../src/routes/answer.ts'
import { parse } from '../support/parse.ts'
import { ROOT } from './pages.ts'

/** Places whose status and code are not written out. Each has its reason why the list of errors is whole all the same. */
const MEASURED: Readonly<Record<string, string>> = {
  'src/routes/answer.ts: new RestError(503, error.code)': 'passedOn() tries every code',
  'src/routes/answer.ts: new RestError(error.status, error.code)': 'passedOn() tries every code',
  'src/features/addons/addons-routes.ts: new RestError(status, code)': 'addonErrors() tries every code',
  'src/features/admin/create-admin.ts: errorBody(status, rest_forbidden)':
    'the page of the admin screen, which is no REST route',
  'src/middleware/refusal.ts: errorBody(status, code)': 'the answer to a login, which is no REST route',
  'src/ground/errors.ts: errorBody(this.status, this.code)': 'for answers of the application, which are no REST routes',
}

/** What the sources say of the errors that the routes answer with. */
export interface WrittenErrors {
  /** Status and code, such as `404 user_not_found`. */
  readonly errors: readonly string[]
  /** Places where a status or a code is not written out, so that nobody can tell by reading. */
  readonly unread: readonly string[]
}

/** Lists every status and code that the REST routes answer with, but for those of add-ons; see `addonErrors`. */
export function restErrors(): readonly string[] {
  return [...new Set([...sourcesOfTheCode().flatMap((it) => writtenErrors(...it).errors), ...passedOn()])].sort()
}

/** Lists the places that `restErrors` cannot read, and that nothing else measures either. */
export function unreadErrors(): readonly string[] {
  return sourcesOfTheCode().flatMap((it) => writtenErrors(...it).unread)
}

function sourcesOfTheCode(): [path: string, source: string][] {
  return readdirSync(join(ROOT, 'src'), { recursive: true })
    .map((path) => `src/${String(path).replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts') && !path.startsWith('src/browser/'))
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')])
}

/** Reads every `new RestError(status, code, …)` and `errorBody(code, message, status)` of a source. */
function writtenErrors(path: string, source: string): WrittenErrors {
  const errors: string[] = []
  const unread: string[] = []

  function note(what: string, status: ts.Node | undefined, code: ts.Node | undefined): void {
    const place = `${path}: ${what}(${textOf(status)}, ${textOf(code)})`
    if (place in MEASURED) return
    if (status && code && ts.isNumericLiteral(status) && ts.isStringLiteral(code))
      errors.push(`${status.text} ${code.text}`)
    else unread.push(place)
  }

  function visit(node: ts.Node): void {
    if (ts.isNewExpression(node) && node.expression.getText() === 'RestError') {
      note('new RestError', node.arguments?.[0], node.arguments?.[1])
    } else if (ts.isCallExpression(node) && node.expression.getText() === 'errorBody') {
      note('errorBody', node.arguments[2], node.arguments[0])
    } else if (ts.isIdentifier(node) && node.text === 'RestError' && !isPlainUse(node.parent)) {
      unread.push(`${path}: ${node.parent.getText().split('\n')[0]}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(parse(path, source))
  return { errors, unread }
}

/** Under another name, or as the base of another class, an error would not be found. */
function isPlainUse(parent: ts.Node): boolean {
  if (ts.isImportSpecifier(parent)) return parent.propertyName === undefined
  if (ts.isBinaryExpression(parent)) return parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword
  return ts.isNewExpression(parent) || ts.isTypeReferenceNode(parent) || ts.isClassDeclaration(parent)
}

const textOf = (node: ts.Node | undefined) => (node && ts.isStringLiteral(node) ? node.text : (node?.getText() ?? ''))

/** What the routes answer when the session limit, its stores or its hooks fail. */
function passedOn(): string[] {
  const codes = Object.keys(STATUS) as readonly SessmgrErrorCode[]
  return codes.flatMap((code) => {
    const answer = restErrorOf(new SessmgrError(code, 'It fails.'))
    return answer ? `${answer.status} ${answer.code}` : []
  })
}
