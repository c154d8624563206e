import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CliError } from './cli-error.ts'

const NAMES = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((extension) => `sessmgr.config.${extension}`)
const ANY_NAME = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(NAMES)

/**
 * Finds the configuration in a folder: `file` if given, otherwise `sessmgr.config.*`. Ends the command if it does not
 * exist.
 */
export function findConfig(folder: string, file?: string): string {
  const path = file === undefined ? configIn(folder) : resolve(folder, file)
  if (path !== undefined && existsSync(path)) return path
  throw new CliError(
    1,
    `${path === undefined ? `No ${ANY_NAME} was found in ${folder}` : `${path} does not exist`}. ` +
      'Create a configuration file that exports your limiter: ' +
      'export default sessmgr({ store, host }).',
    'command-cannot-load-the-configuration',
  )
}

/** Checks whether a folder has a `sessmgr.config.*`. */
export function hasConfig(folder: string): boolean {
  return configIn(folder) !== undefined
}

function configIn(folder: string): string | undefined {
  return NAMES.map((name) => join(folder, name)).find(existsSync)
}
