import { spawnSync } from 'node:child_process'
import { basename, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { explainError } from './cli-error.ts'

const ADVICE = "A client needs an error listener: client.on('error', (error) => …)."

/** Describes why the configuration could not be loaded, starting with the file that caused it. */
export function explainLoadError(config: string, error: unknown): string {
  const sentence = explainSyntax(config, error) ?? explainError(error)
  return sentence.startsWith(config) ? sentence : `${config} could not be loaded: ${sentence}`
}

/** Describes an error that the application did not catch, for example from a client without an error listener. */
export function explainUncaught(config: string, error: unknown): string {
  // Node 20 throws a syntax error in an imported file a second time, as an uncaught exception.
  if (error instanceof SyntaxError) return explainLoadError(config, error)
  const sentence = `${config || 'This command'} caused an uncaught error: ${explainError(error)}`
  const isOfConnection = (error as NodeJS.ErrnoException | undefined)?.syscall !== undefined
  return isOfConnection ? `${sentence}\n${ADVICE}` : sentence
}

function explainSyntax(config: string, error: unknown): string | undefined {
  if (!(error instanceof SyntaxError)) return undefined
  const stack = error.stack ?? ''
  const [file, line] = placeIn(stack) ?? []
  if (file !== undefined) return isModuleSyntax(error) ? adviseModule(file, config) : sentenceOf(error, file, line)
  // If the application itself failed to parse something, such as JSON, the stack already shows where.
  if (explainError(error).includes('\n')) return undefined
  const [faulty, faultyLine] = placeIn(checked(config)) ?? []
  if (faulty !== undefined) return sentenceOf(error, faulty, faultyLine)
  return `SyntaxError in an imported file: ${error.message}. Find the error with: node --check <file>`
}

function sentenceOf({ message }: Error, file: string, line: string | undefined): string {
  return `${file}:${line}: SyntaxError: ${message.split('\n')[0]}`
}

/** Reads the location of the error, which Node prints first if it knows it. */
function placeIn(text: string): [file: string, line: string] | undefined {
  const [, file, line] = /^(.+):(\d+)\n/.exec(text) ?? []
  if (file === undefined || line === undefined) return undefined
  return [file.startsWith('file:') ? fileURLToPath(file) : file, line]
}

/** Returns the output of `node --check`, which, unlike an import, shows where a syntax error is. */
function checked(file: string): string {
  return /\.[cm]?js$/.test(file) ? spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' }).stderr : ''
}

/** Recognizes `import` and `export` in a file that Node compiles as CommonJS. */
function isModuleSyntax({ message }: Error): boolean {
  return /^(Cannot use (import statement|'import\.meta') outside a module|Unexpected token 'export')/.test(message)
}

function adviseModule(file: string, config: string): string {
  const extension = extname(file)
  const [, letter, language] = /^\.(c?)(js|ts)$/.exec(extension) ?? []
  const why = letter ? `its name ends in ${extension}` : 'this project is CommonJS ("type": "commonjs" in package.json)'
  const name = `${basename(file, extension)}.m${language ?? 'js'}`
  const exported = file === config ? 'module.exports = limiter' : 'module.exports'
  const ways = `Rename it to ${name}, or write CommonJS, with require() and ${exported}.`
  return `${file} uses import or export, but ${why}.\n${ways}`
}
