import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, extname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { withDeadline } from '../ground/deadline.ts'
import type { Sessmgr } from '../service/service.ts'
import { CliError, explainError } from './cli-error.ts'
import { readText } from './text-files.ts'

const DEADLINE_MS = 10_000
const NAMES = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((extension) => `sessmgr.config.${extension}`)
const ANY_NAME = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(NAMES)

/**
 * Returns the path of the configuration in a folder: `file` if given, otherwise `sessmgr.config.*`. Ends the command if
 * the file does not exist.
 */
export function findConfig(folder: string, file?: string): string {
  const path = file === undefined ? configIn(folder) : resolve(folder, file)
  if (path !== undefined && existsSync(path)) return path
  throw new CliError(
    1,
    `${path === undefined ? `No ${ANY_NAME} was found in ${folder}` : `${path} does not exist`}. ` +
      'Create a configuration file that exports your limiter: ' +
      'export default sessmgr({ store, host }).',
  )
}

/** Checks whether a folder has a `sessmgr.config.*`. */
export function hasConfig(folder: string): boolean {
  return configIn(folder) !== undefined
}

function configIn(folder: string): string | undefined {
  return NAMES.map((name) => join(folder, name)).find(existsSync)
}

/**
 * Loads the limiter from the configuration's default export: the limiter itself, or a function that returns it.
 *
 * @param path An absolute path.
 */
export async function loadConfig(path: string): Promise<Sessmgr> {
  readText(path)
  const exported = defaultOf(
    await inTime(path, 'a top-level await in it, or in a file that it imports,', importFile(path)),
  )
  if (isLimiter(exported)) return exported
  const limiter =
    typeof exported === 'function' && (await inTime(path, 'the function that it exports', callFactory(exported)))
  if (isLimiter(limiter)) return limiter
  const problem = `${path} must default-export the limiter that sessmgr() returned, or a function that returns it.`
  throw new CliError(1, problem)
}

/** Silences Node's warning about an ES module in a CommonJS project, because our error explains the problem better. */
export function muteModuleWarning(): void {
  const listeners = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (/^(To load an|Failed to load the) ES module/.test(warning.message)) return
    for (const listener of listeners) listener(warning)
  })
}

/** Waits for one step of loading with a deadline, so that an unreachable server cannot block the command. */
async function inTime<T>(path: string, what: string, work: Promise<T>): Promise<T> {
  const late = `${path} was not loaded within ${DEADLINE_MS / 1000} seconds`
  const slow = `${late}: ${what} is still waiting, perhaps for a server that is down.`
  try {
    return await withDeadline(work, DEADLINE_MS, () => new CliError(1, slow))
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(1, explainLoadError(path, error))
  }
}

async function callFactory(factory: CallableFunction): Promise<unknown> {
  return factory()
}

async function importFile(path: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(path).href)
  } catch (error) {
    const { code, message } = Object(error) as NodeJS.ErrnoException
    const typescript = code === 'ERR_UNKNOWN_FILE_EXTENSION' && /"\.[cm]?ts" for (.*)$/.exec(message)?.[1]
    if (typescript) return importTypeScript(path, typescript)
    throw error
  }
}

/** Imports TypeScript with the application's jiti 2, because Node itself reads TypeScript only from 22.18 on. */
async function importTypeScript(path: string, unreadable: string): Promise<unknown> {
  let jiti: { createJiti?(parent: string): { import(file: string): Promise<unknown> } }
  try {
    jiti = await import(pathToFileURL(createRequire(path).resolve('jiti')).href)
  } catch {
    throw cannotRead(unreadable, 'Install the jiti package in your application')
  }
  if (!jiti.createJiti) throw cannotRead(unreadable, 'Install jiti 2 or newer (your application has an older one)')
  return jiti.createJiti(path).import(path)
}

function cannotRead(unreadable: string, advice: string): CliError {
  return new CliError(
    1,
    `This version of Node cannot read TypeScript (${unreadable}). ${advice}, or write the file in JavaScript.`,
  )
}

/** Finds the default export. CommonJS nests it one level down, and CommonJS compiled from ES modules two levels. */
function defaultOf(module: unknown): unknown {
  const outer = (module as { default?: unknown }).default ?? module
  return (outer as { default?: unknown } | undefined)?.default ?? outer
}

function isLimiter(value: unknown): value is Sessmgr {
  return typeof value === 'function' && 'sessions' in value && 'settings' in value
}

const ADVICE = "A client needs an error listener: client.on('error', (error) => …)."

/** Describes why the configuration could not be loaded, starting with the file that caused it. */
function explainLoadError(config: string, error: unknown): string {
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

/** Parses the location of an error, which Node prints first if it is known. */
function placeIn(text: string): [file: string, line: string] | undefined {
  const [, file, line] = /^(.+):(\d+)\n/.exec(text) ?? []
  if (file === undefined || line === undefined) return undefined
  return [file.startsWith('file:') ? fileURLToPath(file) : file, line]
}

/** Returns the output of `node --check`, which, unlike an import, shows where a syntax error is. */
function checked(file: string): string {
  return /\.[cm]?js$/.test(file) ? spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' }).stderr : ''
}

/** Checks whether an error is about `import` or `export` in a file that Node compiles as CommonJS. */
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
