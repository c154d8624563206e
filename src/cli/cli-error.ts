import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { LicensingError } from '../features/addons/licensing.ts'
import { messageOf, SessmgrError } from '../ground/errors.ts'

const PROGRAM = dirname(fileURLToPath(import.meta.url))

/** Ends a command with a message for the person who ran it. */
export class CliError extends Error {
  override readonly name = 'CliError'
  /** 1 if the request was refused or nothing was found, 2 for wrong usage. */
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Reports that there is no such user. */
export class UnknownUserError extends CliError {
  constructor(identifier: string) {
    super(1, `There is no user "${identifier}".`)
  }
}

/**
 * Describes an error, with the stack frames of the application's own code. Frames of Node and of packages are left out,
 * because users cannot fix those. With `DEBUG=sessmgr`, returns the whole stack.
 */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error)
  if (/(^|[\s,])(\*|sessmgr)(?=$|[\s,])/.test(process.env.DEBUG ?? '')) return wholeOf(error)
  if (error instanceof CliError) return error.message
  if (error instanceof SessmgrError || error instanceof LicensingError) return `${error.message}\nSee ${error.help}`
  const [sentence] = messageOf(error).split('\nRequire stack:')
  const named = error.name === 'Error' ? sentence : `${error.name}: ${sentence}`
  return [named, ...ownFrames(error)].join('\n')
}

function ownFrames({ stack = '' }: Error): string[] {
  const frames = stack.split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
  return frames.filter((frame) => !/\bnode:|[\\/]node_modules[\\/]/.test(frame) && !frame.includes(PROGRAM))
}

/**
 * Returns only the stacks of an error and its causes. Other properties may contain a secret, such as a URL with a
 * password.
 */
function wholeOf({ stack, message, cause }: Error): string {
  const own = stack ?? message
  if (!(cause instanceof Error)) return own
  // The stack of a store failure already includes the message of its cause.
  return `${own.replace(`\nCaused by: ${messageOf(cause)}`, '')}\nCaused by: ${wholeOf(cause)}`
}
