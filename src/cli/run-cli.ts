import { Command, CommanderError } from 'commander'
import { VERSION } from '../ground/constants.ts'
import { withDeadline } from '../ground/deadline.ts'
import type { Sessmgr } from '../service/service.ts'
import { type CliContext, createCliContext } from './cli-context.ts'
import { CliError, explainError } from './cli-error.ts'
import { addonCommands } from './commands/addon-commands.ts'
import { appPasswordsCommand } from './commands/app-passwords-command.ts'
import { explainCommand } from './commands/explain-command.ts'
import { licenseCommand } from './commands/license-command.ts'
import { sessionsCommand } from './commands/sessions-command.ts'
import { settingsCommand } from './commands/settings-command.ts'
import { doctorCommand, schemaCommand, uninstallCommand } from './commands/store-commands.ts'
import { usersCommand } from './commands/users-command.ts'
import { explainUncaught, findConfig, hasConfig, loadConfig, muteModuleWarning } from './load-config.ts'
import { plainText } from './output.ts'

const CLOSE_MS = 5000

/**
 * Runs one command line.
 *
 * @param args The arguments after the program name.
 * @returns The exit code: 0 for success, 1 if the request was refused or nothing was found, 2 for wrong usage.
 */
export async function runCli(args: readonly string[]): Promise<number> {
  let config = ''
  let limiter: Sessmgr | undefined
  const program = new Command('sessmgr')
    .description('Manage the login sessions of an application.')
    .version(VERSION)
    .option(
      '--config <file>',
      'file that exports the limiter (default: sessmgr.config.{js,mjs,cjs,ts,mts,cts} in this folder)',
    )
  const load = async () => {
    config = findConfig(process.cwd(), program.opts<{ config?: string }>().config)
    limiter = await loadConfig(config)
    await limiter.hooks.doAction('sessmgr_cli_init', addonCommands(program, context))
    return limiter
  }
  const context = createCliContext(load)
  for (const make of [
    sessionsCommand,
    usersCommand,
    explainCommand,
    settingsCommand,
    appPasswordsCommand,
    licenseCommand,
    doctorCommand,
    schemaCommand,
    uninstallCommand,
  ]) {
    program.addCommand(make(context))
  }
  throwInsteadOfExit(program)

  muteModuleWarning()
  const uncaught = new Promise<never>((_, reject) => {
    process.on('uncaughtException', (error) => {
      reject(new CliError(1, explainUncaught(config, error)))
    })
  })
  const work = async () => {
    await loadAddons(program, context, args)
    await program.parseAsync(args, { from: 'user' })
  }
  try {
    await Promise.race([work(), uncaught])
    return 0
  } catch (error) {
    return report(error)
  } finally {
    if (limiter) await close(limiter)
  }
}

/**
 * Loads the configuration if the command is unknown, because an add-on may define it, or if all commands are to be
 * listed.
 */
async function loadAddons(program: Command, context: CliContext, args: readonly string[]): Promise<void> {
  const [first, second] = program.parseOptions([...args]).operands
  const name = first === 'help' ? second : first
  if (program.commands.some((command) => command.name() === name)) return
  if (program.opts<{ config?: string }>().config === undefined && !hasConfig(process.cwd())) return
  try {
    await context.load()
  } catch (error) {
    if (name !== undefined) throw error
    process.stderr.write(`Warning: the add-on commands are not listed: ${plainText(explainError(error))}\n`)
  }
}

function throwInsteadOfExit(command: Command): void {
  command.exitOverride()
  for (const child of command.commands) throwInsteadOfExit(child)
}

function report(error: unknown): number {
  // Commander has already printed the problem.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  process.stderr.write(`${plainText(explainError(error))}\n`)
  return error instanceof CliError ? error.exitCode : 1
}

/** Closes the limiter. A failure only causes a warning, because the command itself has finished. */
async function close(limiter: Sessmgr): Promise<void> {
  const slow = () => new CliError(1, `it took longer than ${CLOSE_MS / 1000} seconds.`)
  await withDeadline(limiter.close(), CLOSE_MS, slow).catch((error) => {
    process.stderr.write(`Warning: the limiter could not be closed: ${plainText(explainError(error))}\n`)
  })
}
