import { FORMATS } from '../../src/cli/output.ts'
import { type CliWorld, startCliWorld } from '../support/cli.ts'
import type { Names } from './public-api.ts'

const USER = 'alice'

/** Runs the built program and reads what scripts hold on to: commands, options, formats, fields, exit codes. */
export async function readCommandLine(): Promise<Names> {
  const world = await startCliWorld()
  try {
    const usages = await usagesOf(world, [])
    const [lists, others] = [(line: string) => line.includes('--format'), (line: string) => line.startsWith('--')]
    return new Map<string, readonly string[]>([
      ['Commands', usages.filter((line) => !others(line))],
      ['Options of every command', usages.filter(others)],
      ['Formats of the command line', FORMATS],
      [
        'Fields of the command line',
        (await Promise.all(usages.filter(lists).map((line) => fieldsOf(world, line)))).flat(),
      ],
      ['Exit codes', await exitCodes(world)],
    ])
  } finally {
    await world.close()
  }
}

/** Each command that does something, with its arguments and options, such as `sessions destroy <user> --yes`. */
async function usagesOf(world: CliWorld, path: readonly string[]): Promise<string[]> {
  const help = (await world.run(...path, '--help')).out
  const commands = linesOf(help, 'Commands').map((line) => line.split(' ')[0] ?? '')
  const below = commands.filter((name) => name !== 'help').map((name) => usagesOf(world, [...path, name]))
  const options = linesOf(help, 'Options').flatMap((line) => /--[a-z-]+(?: <[^>]+>)?/.exec(line)?.[0] ?? [])
  const [, parameters = ''] = /^Usage: .*?\[options\](.*)$/m.exec(help) ?? []
  const own = options.filter((option) => option !== '--help')
  if (below.length > 0) return [...(path.length === 0 ? options : []), ...(await Promise.all(below)).flat()]
  return [`${path.join(' ')}${parameters}`, ...own.map((option) => `${path.join(' ')} ${option}`)]
}

/** The lines of a section of a help text, without those that go on with the one above. */
function linesOf(help: string, section: string): string[] {
  const text = help.split(`${section}:\n`)[1]?.split('\n\n')[0] ?? ''
  return [...text.matchAll(/^ {2}(\S.*)$/gm)].map(([, line = '']) => line)
}

/** What a list gives as JSON, asked for a user who has something to list. */
async function fieldsOf({ run, host }: CliWorld, usage: string): Promise<string[]> {
  const command = usage.split(' --')[0] ?? ''
  await host.signedIn(USER)
  await host.limiter.passwords.create(2, 'one')
  const user = command.startsWith('settings') ? [] : [USER]
  const { out, err } = await run(...command.split(' '), ...user, '--format', 'json')
  const [row] = out === '' ? [] : [JSON.parse(out) as object | object[]].flat()
  if (!row) throw new Error(`\`${command}\` lists nothing: ${err}`)
  return Object.keys(row).map((field) => `${command}: ${field}`)
}

/** What the program ends with when it succeeds, when it is refused, and when it is used wrongly. */
async function exitCodes({ run }: CliWorld): Promise<string[]> {
  const done = await run('--version')
  const refused = await run('settings', 'get', 'no_such_setting')
  const wrong = await run('no-such-command')
  return [`${done.code} done`, `${refused.code} refused, not found, or not confirmed`, `${wrong.code} wrong usage`]
}
