import ts from 'typescript'
import { parse } from './parse.ts'

/** English in a source file, and its line, from 1. */
export interface SourceProse {
  readonly line: number
  readonly prose: string
}

/** Returns the comments of a source file. The formatter ensures that each begins on its own line. */
export function commentsIn(source: string): readonly SourceProse[] {
  const found: SourceProse[] = []
  const lines = source.split('\n')
  for (let index = 0; index < lines.length; index++) {
    const first = lines[index]?.trim() ?? ''
    const isBlock = /^\{?\/\*/.test(first)
    if (!isBlock && !first.startsWith('//')) continue
    const start = index
    if (isBlock) while (!lines[index]?.includes('*/')) index++
    else while (lines[index + 1]?.trim().startsWith('//')) index++
    const text = lines.slice(start, index + 1).map((line) => line.trim().replace(/^\{?\/\*+|\*+\/\}?$|^\/\/|^\*/g, ''))
    found.push({ line: start + 1, prose: proseOf(text) })
  }
  return found
}

/** Leaves out examples, directives for tools, and the names of parameters. */
function proseOf(comment: readonly string[]): string {
  const text = comment.map((line) => line.trim()).join('\n')
  return text
    .replaceAll(/^@example[^@]*/gm, '')
    .replaceAll(/^@(?:biome|ts)-.*|^biome-ignore.*/gm, '')
    .replaceAll(/^@param (\w+)|^@throws (\w+)|@default .*$/gm, '\n')
}

/** Four words or more. */
const SENTENCE = /(?:[\p{L}'’]+[,.:;]? ){3}\p{L}/u
/** Matches SQL statements and user agents. */
const FOREIGN = /^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE) |Mozilla\//
const QUOTED = /'[\w.:-]+'|"[^"]*"/g

/**
 * Returns the messages of a source file: strings of four or more words in the code, joined where `+` continues them.
 */
export function messagesIn(path: string, source: string): readonly SourceProse[] {
  const file = parse(path, source)
  const found: SourceProse[] = []
  const visit = (node: ts.Node): void => {
    const text = textOf(node)
    if (text === undefined) return node.forEachChild(visit)
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
    if (SENTENCE.test(text) && !FOREIGN.test(text)) found.push({ line, prose: text.replaceAll(QUOTED, '`code`') })
  }
  visit(file)
  return found
}

/**
 * Returns the string that an expression creates, with `code` in place of each value; undefined for other expressions.
 */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('`code`')
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined
  const [left, right] = [textOf(node.left), textOf(node.right)]
  return left === undefined || right === undefined ? undefined : left + right
}
