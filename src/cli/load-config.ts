import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Sessmgr } from '../service/sessmgr.ts'
import { CliError } from './cli-error.ts'

const NAMES = ['js', 'mjs', 'cjs', 'ts'].map((extension) => `sessmgr.config.${extension}`)

/**
 * Loads the limiter that the application's configuration exports, as the default, as it is or made by a function.
 *
 * @param file Path of the file; without it, `sessmgr.config.*` in the folder.
 */
export async function loadConfig(folder: string, file?: string): Promise<Sessmgr> {
  const path = file === undefined ? NAMES.map((name) => join(folder, name)).find(existsSync) : resolve(folder, file)
  if (path === undefined || !existsSync(path)) {
    throw new CliError(
      1,
      `${path ?? `One of ${NAMES.join(', ')}`} was not found in ${folder}. Write one that exports your limiter: ` +
        'export default sessmgr({ store: redisStore({ client }), host }).',
    )
  }
  const exported = defaultOf(await importFile(path))
  const limiter: unknown = typeof exported === 'function' && !('sessions' in exported) ? await exported() : exported
  if (isLimiter(limiter)) return limiter
  throw new CliError(1, `${path} must export what sessmgr() returned as its default, or a function that returns it.`)
}

async function importFile(path: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(path).href)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error
    return importTypeScript(path)
  }
}

/** Node from 22.18 on reads TypeScript itself; before that the application's jiti does. */
async function importTypeScript(path: string): Promise<unknown> {
  let jiti: { createJiti(parent: string): { import(file: string): Promise<unknown> } }
  try {
    jiti = await import(pathToFileURL(createRequire(path).resolve('jiti')).href)
  } catch {
    const advice = 'Install the package jiti in your application, or write the file in JavaScript.'
    throw new CliError(1, `This Node cannot read TypeScript such as ${path}. ${advice}`)
  }
  return jiti.createJiti(path).import(path)
}

/** A CommonJS file, and one that was compiled to it, arrive with their default one or two levels down. */
function defaultOf(module: unknown): unknown {
  const outer = (module as { default?: unknown }).default ?? module
  return (outer as { default?: unknown } | undefined)?.default ?? outer
}

function isLimiter(value: unknown): value is Sessmgr {
  return typeof value === 'function' && 'sessions' in value && 'settings' in value
}
