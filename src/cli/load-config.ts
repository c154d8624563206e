import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { withDeadline } from '../ground/deadline.ts'
import { SessmgrError } from '../ground/errors.ts'
import type { Sessmgr } from '../service/service.ts'
import { CliError } from './cli-error.ts'
import { explainLoadError } from './explain-load-error.ts'
import { readText } from './text-files.ts'

const DEADLINE_MS = 10_000
const TOPIC = 'command-cannot-load-the-configuration'

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
  throw new CliError(1, problem, TOPIC)
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
    return await withDeadline(work, DEADLINE_MS, () => new CliError(1, slow, TOPIC))
  } catch (error) {
    if (error instanceof CliError) throw error
    const hasOwnHelp = error instanceof SessmgrError
    throw new CliError(1, explainLoadError(path, error), hasOwnHelp ? undefined : TOPIC)
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
    TOPIC,
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
