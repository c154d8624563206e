import { spawnSync } from 'node:child_process'
import { basename, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { explainError } from './cli-error.ts'

const ADVICE = "A client that does not reach its server needs a listener: client.on('error', (error) => …)."

/** Says why the configuration could not be loaded: the file first, be it that or one that it imports. */
export function explainLoadError(config: string, error: unknown): string {
  const sentence = explainSyntax(config, error) ?? explainError(error)
  return sentence.startsWith(config) ? sentence : `${config} could not be loaded: ${sentence}`
}

/** Says which error of the application came up where nothing waits for it, as that of a client without a listener. */
export function explainUncaught(config: string, error: unknown): string {
  // Node 20 throws that of a file which the configuration imports once more, for nobody to catch.
  if (error instanceof SyntaxError) return explainLoadError(config, error)
  const sentence = `${config || 'This command'} has met an error that nothing handles: ${explainError(error)}`
  const isOfConnection = (error as NodeJS.ErrnoException | undefined)?.syscall !== undefined
  return isOfConnection ? `${sentence}\n${ADVICE}` : sentence
}

function explainSyntax(config: string, error: unknown): string | undefined {
  if (!(error instanceof SyntaxError)) return undefined
  const stack = error.stack ?? ''
  const [file, line] = placeIn(stack) ?? []
  if (file !== undefined) return isModuleSyntax(error) ? adviseModule(file, config) : sentenceOf(error, file, line)
  // Text that was parsed while it ran, such as JSON, has its place in the stack.
  if (explainError(error).includes('\n')) return undefined
  const [faulty, faultyLine] = placeIn(checked(config)) ?? []
  if (faulty !== undefined) return sentenceOf(error, faulty, faultyLine)
  return `SyntaxError in a file that it imports: ${error.message}. What tells the place is: node --check <file>`
}

function sentenceOf({ message }: Error, file: string, line: string | undefined): string {
  return `${file}:${line}: SyntaxError: ${message.split('\n')[0]}`
}

/** Node begins with the place where it knows it. */
function placeIn(text: string): [file: string, line: string] | undefined {
  const [, file, line] = /^(.+):(\d+)\n/.exec(text) ?? []
  if (file === undefined || line === undefined) return undefined
  return [file.startsWith('file:') ? fileURLToPath(file) : file, line]
}

/** Node does not tell the place of a mistake in an ES module to those who import it, but to those who ask it. */
function checked(file: string): string {
  return /\.[cm]?js$/.test(file) ? spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' }).stderr : ''
}

/** Node compiles nothing but CommonJS in a way that knows neither `import` nor `export`. */
function isModuleSyntax({ message }: Error): boolean {
  return /^(Cannot use (import statement|'import\.meta') outside a module|Unexpected token 'export')/.test(message)
}

function adviseModule(file: string, config: string): string {
  const extension = extname(file)
  const [, letter, language] = /^\.(c?)(js|ts)$/.exec(extension) ?? []
  const why = letter ? `its name ends in ${extension}` : 'this project is CommonJS ("type": "commonjs" in package.json)'
  const name = `${basename(file, extension)}.m${language ?? 'js'}`
  const exported = file === config ? 'module.exports = limiter' : 'module.exports'
  const ways = `Name it ${name}, or write it as CommonJS, with require() and ${exported}.`
  return `${file} is an ES module by its import and export, but ${why}.\n${ways}`
}
