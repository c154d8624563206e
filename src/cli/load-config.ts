import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { withDeadline } from '../ground/deadline.ts'
import type { Sessmgr } from '../service/service.ts'
import { CliError } from './cli-error.ts'
import { explainLoadError } from './explain-load-error.ts'
import { readText } from './text-files.ts'

const DEADLINE_MS = 10_000

/**
 * Loads the limiter that the application's configuration exports, as the default, as it is or made by a function.
 *
 * @param path Absolute path of the file.
 */
export async function loadConfig(path: string): Promise<Sessmgr> {
  readText(path)
  const exported = defaultOf(await inTime(path, 'an await at its top level, or in what it imports,', importFile(path)))
  if (isLimiter(exported)) return exported
  const limiter =
    typeof exported === 'function' && (await inTime(path, 'the function that it exports', callFactory(exported)))
  if (isLimiter(limiter)) return limiter
  throw new CliError(1, `${path} must export what sessmgr() returned as its default, or a function that returns it.`)
}

/** Keeps Node from warning, in words of its own, of an ES module in a CommonJS project: the error says it better. */
export function muteModuleWarning(): void {
  const listeners = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (/^(To load an|Failed to load the) ES module/.test(warning.message)) return
    for (const listener of listeners) listener(warning)
  })
}

/** Waits for a part of the loading, but not for ever, as for a server that is away. */
async function inTime<T>(path: string, what: string, work: Promise<T>): Promise<T> {
  const late = `${path} was not loaded within ${DEADLINE_MS / 1000} seconds`
  const slow = `${late}: ${what} still waits, as for a server that is away.`
  try {
    return await withDeadline(work, DEADLINE_MS, () => new CliError(1, slow))
  } catch (error) {
    throw error instanceof CliError ? error : new CliError(1, explainLoadError(path, error))
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

/** Node from 22.18 on reads TypeScript itself; before that the application's jiti does, from version 2 on. */
async function importTypeScript(path: string, unreadable: string): Promise<unknown> {
  let jiti: { createJiti?(parent: string): { import(file: string): Promise<unknown> } }
  try {
    jiti = await import(pathToFileURL(createRequire(path).resolve('jiti')).href)
  } catch {
    throw cannotRead(unreadable, 'Install the package jiti in your application')
  }
  if (!jiti.createJiti) throw cannotRead(unreadable, 'Install jiti 2 or newer (your application has an older one)')
  return jiti.createJiti(path).import(path)
}

function cannotRead(unreadable: string, advice: string): CliError {
  return new CliError(
    1,
    `This Node cannot read TypeScript such as ${unreadable}. ${advice}, or write the file in JavaScript.`,
  )
}

/** A CommonJS file, and one that was compiled to it, arrive with their default one or two levels down. */
function defaultOf(module: unknown): unknown {
  const outer = (module as { default?: unknown }).default ?? module
  return (outer as { default?: unknown } | undefined)?.default ?? outer
}

function isLimiter(value: unknown): value is Sessmgr {
  return typeof value === 'function' && 'sessions' in value && 'settings' in value
}
