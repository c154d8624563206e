import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { messageOf } from '../ground/error-text.ts'
import { SessmgrError } from '../ground/errors.ts'

const PROGRAM = dirname(fileURLToPath(import.meta.url))

/** Ends a command with a sentence for the person who typed it. */
export class CliError extends Error {
  override readonly name = 'CliError'
  /** 1: refused or not found; 2: wrong usage. */
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/**
 * Says what an error is, and where in the application's own code it came up: neither Node nor a package is a place that
 * a user can mend. With `DEBUG=sessmgr` in the environment everything is told.
 */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error)
  if (/(^|[\s,])(\*|sessmgr)(?=$|[\s,])/.test(process.env.DEBUG ?? '')) return wholeOf(error)
  if (error instanceof CliError || error instanceof SessmgrError) return error.message
  const [sentence] = messageOf(error).split('\nRequire stack:')
  const named = error.name === 'Error' ? sentence : `${error.name}: ${sentence}`
  return [named, ...ownFrames(error)].join('\n')
}

function ownFrames({ stack = '' }: Error): string[] {
  const frames = stack.split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
  return frames.filter((frame) => !/\bnode:|[\\/]node_modules[\\/]/.test(frame) && !frame.includes(PROGRAM))
}

/** Its stack alone: other members may hold a secret, such as the address with the password in it. */
function wholeOf({ stack, message, cause }: Error): string {
  const own = stack ?? message
  if (!(cause instanceof Error)) return own
  // The stack of a store's failure has the sentence of its cause already.
  return `${own.replace(`\nCaused by: ${messageOf(cause)}`, '')}\nCaused by: ${wholeOf(cause)}`
}
