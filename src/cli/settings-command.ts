import { Command } from 'commander'
import type { SessionSettings } from '../options/session-settings.ts'
import type { CliContext } from './cli-context.ts'
import { CliError } from './cli-error.ts'
import { printRows } from './print-rows.ts'

const KEYS = ['maximum', 'logic'] as const

/** `sessmgr settings`: reads and changes the settings of the limit. */
export function settingsCommand({ limiter, limiterToChange, print }: CliContext): Command {
  const command = new Command('settings').description('read and change the settings')
  const read = async () => (await limiter()).settings.get()

  command
    .command('list')
    .description('list every setting')
    .option('--format <format>', 'table, json, csv or ids', 'table')
    .action(async ({ format }: { format: string }) => {
      const settings = await read()
      printRows(
        KEYS.map((key) => ({ key, value: settings[key] })),
        ['key', 'value'],
        format,
      )
    })

  command
    .command('get <key>')
    .description('print one setting')
    .action(async (key: string) => print(String((await read())[knownKey(key)])))

  command
    .command('set <key> <value>')
    .description('change one setting; a value that is not valid is refused and changes nothing')
    .action(async (key: string, value: string) => {
      const name = knownKey(key)
      const { settings } = await limiterToChange()
      const updated = await settings.update({ [name]: value })
      print(`${name} is now ${updated[name]}.`)
    })

  return command
}

function knownKey(key: string): keyof SessionSettings {
  const known = KEYS.find((name) => name === key)
  if (known) return known
  throw new CliError(1, `There is no setting "${key}". There are: ${KEYS.join(', ')}.`)
}
