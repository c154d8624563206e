import { readFileSync } from 'node:fs'
import { CliError } from './cli-error.ts'

/** Reads a text file, or ends the command. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CliError(1, `${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}
