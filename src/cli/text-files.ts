import { readFileSync, type WriteFileOptions, writeFileSync } from 'node:fs'
import { CliError } from './cli-error.ts'

const SECRET_FILE = 0o600

/** Reads a text file. Ends the command if that fails. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CliError(1, `${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Reads a JSON file. Ends the command if that fails. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readText(file))
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(1, `${file} is not valid JSON.`)
  }
}

/**
 * Writes a new file that only its owner can read. Ends the command if that fails.
 *
 * Never overwrites a file, because a lost key can issue no more licenses.
 */
export function writeSecret(file: string, text: string): void {
  writeText(file, text, { mode: SECRET_FILE, flag: 'wx' })
}

/** Writes a text file. Ends the command if that fails. */
export function writeText(file: string, text: string, options?: WriteFileOptions): void {
  try {
    writeFileSync(file, text, options)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CliError(1, code === 'EEXIST' ? `${file} already exists.` : `${file} cannot be written (${code}).`)
  }
}
