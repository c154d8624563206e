import { Command } from 'commander'
import { isSetting, SETTING_NAMES, type SessionSettings } from '../../options/setting-rules.ts'
import { MOST_SESSIONS } from '../../sessions/session-registry.ts'
import { type CliContext, formatOption } from '../cli-context.ts'
import { CliError } from '../cli-error.ts'
import { printRows } from '../output.ts'
import { SETTING_HELP } from './setting-help.ts'

/** Returns the `sessmgr settings` command. */
export function settingsCommand({ limiter, limiterToChange, print }: CliContext): Command {
  const command = new Command('settings').description('read and change the settings')
  const read = async () => (await limiter()).settings.option.sources()

  command
    .command('list')
    .description('list all settings, and whether each is stored or a default from the code')
    .addOption(formatOption())
    .action(async ({ format }: { format: string }) => {
      const { stored = {}, defaults } = await read()
      const rows = SETTING_NAMES.map((key) => ({
        key,
        value: stored[key] ?? defaults[key],
        source: stored[key] === undefined ? 'default' : 'stored',
      }))
      printRows(rows, ['key', 'value', 'source'], format)
    })

  command
    .command('get <key>')
    .description('print one setting')
    .action(async (key: string) => {
      const { stored, defaults } = await read()
      const name = knownKey(key)
      const value = { ...defaults, ...stored }[name]
      print(String(value))
      noteBound(name, value)
    })

  command
    .command('set <key> <value>')
    .description('change one setting; an invalid value changes nothing')
    .action(async (key: string, value: string) => {
      const name = knownKey(key)
      const { settings } = await limiterToChange()
      const updated = await settings.update({ [name]: value }, undefined, { by: 'admin' })
      print(`${name} is now ${updated[name]}.`)
      noteBound(name, updated[name])
    })

  command
    .command('reset [key]')
    .description('delete one stored setting, or all of them, so that the defaults from the code apply')
    .action(async (key?: string) => {
      const name = key === undefined ? undefined : knownKey(key)
      const { settings } = await limiterToChange()
      const now = await settings.reset(name, { by: 'admin' })
      for (const one of name ? [name] : SETTING_NAMES) print(`${one} is now ${now[one]}, the default.`)
    })

  for (const each of [command, ...command.commands])
    each.addHelpText('after', (context) => settingsHelp(context.command))
  return command
}

/** Says that a maximum counts as a lower one. Written to stderr, so that scripts read only the value. */
function noteBound(name: keyof SessionSettings, value: unknown): void {
  const isOver = name === 'maximum' && typeof value === 'number' && value > MOST_SESSIONS
  if (isOver) process.stderr.write(`Note: A maximum above ${MOST_SESSIONS} counts as ${MOST_SESSIONS}.\n`)
}

/** Returns the list of settings for the help, formatted like the list of commands. */
function settingsHelp(command: Command): string {
  const helper = Object.assign(command.createHelp(), { helpWidth: command.configureOutput().getOutHelpWidth?.() ?? 80 })
  const width = Math.max(...SETTING_NAMES.map((name) => name.length))
  const lines = SETTING_NAMES.map((name) => helper.formatItem(name, width, SETTING_HELP[name], helper))
  return `\nSettings:\n${lines.join('\n')}`
}

function knownKey(key: string): keyof SessionSettings {
  if (isSetting(key)) return key
  throw new CliError(1, `Unknown setting "${key}". Use one of ${SETTING_NAMES.join(', ')}.`)
}
