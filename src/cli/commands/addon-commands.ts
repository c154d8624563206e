import type { Command } from 'commander'
import { invalidOption } from '../../ground/invalid-option.ts'
import { requireKnown } from '../../ground/option-checks.ts'
import type { CliCommand, CliCommands, CliGroup } from '../../hooks/addon-types.ts'
import type { CliContext } from '../cli-context.ts'
import { CliError } from '../cli-error.ts'
import { printRows } from '../output.ts'

const NAME = /^[a-z][a-z0-9-]*$/
const ARGUMENT = /^(<[a-z][\w-]*(\.\.\.)?>|\[[a-z][\w-]*(\.\.\.)?\])$/
const OPTION = /^--[a-z][a-z0-9-]*( <[a-z][\w-]*>)?$/
/** Matches the program's own options, and `--no-…`, which Commander reads as a negated option. */
const RESERVED = /^--(help|version|config|no-.*)\b/
const KEYS = ['description', 'arguments', 'options', 'changes', 'run'] satisfies (keyof CliCommand)[]

type Options = Record<string, string | true | undefined>

/**
 * Returns the object that adds add-on commands to the program. If a group is invalid, none of its commands are added.
 */
export function addonCommands(program: Command, context: CliContext): CliCommands {
  return {
    register(name, group) {
      requireName(name, `The command "${name}"`)
      if (name === 'help' || program.commands.some((command) => command.name() === name)) {
        throw invalidOption(`The command "${name}" already exists. Register your commands under your add-on's name`)
      }
      requireGroup(name, group)
      const parent = program.command(name).description(group.description)
      for (const [each, command] of Object.entries(group.commands)) add(parent, each, command, context)
    },
  }
}

function add(parent: Command, name: string, command: CliCommand, context: CliContext): void {
  const { description, arguments: args = [], options = {}, changes } = command
  const child = parent.command([name, ...args].join(' ')).description(description)
  for (const [flags, meaning] of Object.entries(options)) child.option(flags, meaning)
  child.action(async () => {
    await (changes ? context.limiterToChange() : context.limiter())
    const given = child.opts<Options>()
    const call = {
      options: given,
      print: context.print,
      printRows: (rows: Parameters<typeof printRows>[0], columns: readonly string[]) =>
        printRows(rows, columns, String(given.format ?? 'table')),
      confirm: (question: string) => context.confirm(question, given.yes === true),
      failure: (message: string, exitCode: 1 | 2 = 1) => new CliError(exitCode, message),
    }
    await command.run(call, ...child.args)
  })
}

function requireGroup(name: string, group: CliGroup): void {
  const where = `The command "${name}"`
  requireDescription(group, where)
  const commands = Object.entries(Object(group.commands) as Record<string, CliCommand>)
  if (commands.length === 0) throw invalidOption(`${where} needs at least one entry in "commands"`)
  for (const [each, command] of commands) {
    const whole = `The command "${name} ${each}"`
    requireName(each, whole)
    if (each === 'help') throw invalidOption(`${whole} already exists`)
    requireCommand(command, whole)
    requireKnown(command, KEYS, (key) => `There is no option "${name}.${each}.${key}"`)
  }
}

function requireCommand(command: CliCommand, where: string): void {
  requireDescription(command, where)
  if (typeof command.run !== 'function') throw invalidOption(`${where} needs a "run" function`)
  const args = command.arguments ?? []
  for (const [index, argument] of args.entries()) {
    if (!ARGUMENT.test(argument))
      throw invalidOption(`${where}: "${argument}" is not an argument such as <user> or [role]`)
    const next = args[index + 1]
    if (next !== undefined && (argument.includes('...') || (argument.startsWith('[') && next.startsWith('<')))) {
      throw invalidOption(`${where}: a required argument cannot follow "${argument}"`)
    }
  }
  for (const flags of Object.keys(command.options ?? {})) {
    if (!OPTION.test(flags))
      throw invalidOption(`${where}: "${flags}" is not an option such as --force or --role <role>`)
    if (RESERVED.test(flags)) throw invalidOption(`${where}: the "${flags}" option is reserved`)
  }
}

function requireName(name: unknown, where: string): void {
  if (typeof name === 'string' && NAME.test(name)) return
  throw invalidOption(`${where} needs a name of lowercase letters, digits and hyphens that starts with a letter`)
}

function requireDescription(given: { description?: unknown } | null | undefined, where: string): void {
  if (typeof given?.description === 'string' && given.description.trim() !== '') return
  throw invalidOption(`${where} needs a "description" for --help`)
}
