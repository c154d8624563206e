import { Command, CommanderError } from 'commander'
import { VERSION } from '../constants.ts'
import { SessmgrError } from '../errors.ts'
import type { Sessmgr } from '../service/sessmgr.ts'
import { appPasswordsCommand } from './app-passwords-command.ts'
import { createCliContext } from './cli-context.ts'
import { CliError } from './cli-error.ts'
import { licenseCommand } from './license-command.ts'
import { loadConfig } from './load-config.ts'
import { sessionsCommand } from './sessions-command.ts'
import { settingsCommand } from './settings-command.ts'
import { uninstallCommand } from './uninstall-command.ts'

/**
 * Runs one command line.
 *
 * @param args What stands after the name of the program.
 * @returns The exit code: 0 done, 1 refused or not found, 2 wrong usage.
 */
export async function runCli(args: readonly string[]): Promise<number> {
  let limiter: Sessmgr | undefined
  const program = new Command('sessmgr')
    .description('Administers the login sessions of an application.')
    .version(VERSION)
    .option('--config <file>', 'the file that exports the limiter (default: sessmgr.config.{js,mjs,cjs,ts} here)')
  const context = createCliContext(async () => {
    limiter = await loadConfig(process.cwd(), program.opts<{ config?: string }>().config)
    await limiter.hooks.doAction('sessmgr_cli_init')
    return limiter
  })
  for (const make of [sessionsCommand, settingsCommand, appPasswordsCommand, licenseCommand, uninstallCommand]) {
    program.addCommand(make(context))
  }
  throwInsteadOfExit(program)

  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    return report(error)
  } finally {
    await limiter?.close()
  }
}

function throwInsteadOfExit(command: Command): void {
  command.exitOverride()
  for (const child of command.commands) throwInsteadOfExit(child)
}

function report(error: unknown): number {
  // Commander has said already what is wrong.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (!(error instanceof CliError || error instanceof SessmgrError)) throw error
  process.stderr.write(`${error.message}\n`)
  return error instanceof CliError ? error.exitCode : 1
}
