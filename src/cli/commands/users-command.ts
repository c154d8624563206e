import { Command } from 'commander'
import type { UserId } from '../../ground/user-id.ts'
import type { IdentifierKind } from '../../host/users.ts'
import { coreOf } from '../../service/service-core.ts'
import { byOption, type CliContext } from '../cli-context.ts'
import { CliError, UnknownUserError } from '../cli-error.ts'
import { plural } from '../output.ts'

const NO_SINK =
  'No events were deleted, because the configuration has no audit sink. If your application has one, set it here too. ' +
  'Without one, its processes keep their latest events in memory until they restart.'
const CANNOT_FORGET = 'The audit sink cannot delete the events of one user. Delete them yourself.'

/** Returns the `sessmgr users` command. */
export function usersCommand(context: CliContext): Command {
  const { limiterToChange, confirm, print } = context
  const command = new Command('users').description('erase users')

  command
    .command('erase <user>')
    .description('end all sessions of a user and erase their data')
    .addOption(byOption())
    .option('--yes', 'do not ask')
    .action(async (identifier: string, { by, yes }: { by?: IdentifierKind; yes?: boolean }) => {
      const limiter = await limiterToChange()
      const { id, name } = await whom(context, identifier, by)
      await confirm(`End every session of ${name} and erase their data? This cannot be undone.`, yes)
      const { sessions, passwords, events } = await limiter.eraseUser(id, { by: 'admin' })
      const counts = [plural(sessions, 'session'), plural(passwords, 'application password')]
      if (!coreOf(limiter).options.audit) print(NO_SINK)
      else if (events === null) print(CANNOT_FORGET)
      else counts.push(plural(events, 'event'))
      print(`Erased ${name}: ${counts.join(', ')}.`)
    })

  return command
}

/**
 * Finds the user to erase. An id unknown to the application is accepted only with `--by id`, so that a typo erases
 * nothing.
 */
async function whom({ load, user }: CliContext, identifier: string, by: IdentifierKind | undefined) {
  const { host } = await load()
  const given: { id: UserId; name: string } = { id: identifier, name: `the id "${identifier}"` }
  if (by === 'id' && identifier === '') throw new CliError(2, 'The id of a user cannot be empty.')
  if (!host && by === 'id') return given
  try {
    const { id, login } = await user(identifier, by)
    return { id, name: login }
  } catch (error) {
    if (!(error instanceof UnknownUserError)) throw error
    if (by === 'id') return given
    throw new CliError(1, `${error.message} For a deleted user, pass the id with --by id.`)
  }
}
