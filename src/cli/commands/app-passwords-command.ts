import { Command } from 'commander'
import type { IdentifierKind } from '../../host/users.ts'
import { byOption, type CliContext, formatOption } from '../cli-context.ts'
import { CliError } from '../cli-error.ts'
import { printRows } from '../output.ts'

/** Returns the `sessmgr app-passwords` command. */
export function appPasswordsCommand({ limiter, limiterToChange, user, confirm, print }: CliContext): Command {
  const command = new Command('app-passwords').description('create, list and revoke application passwords')

  command
    .command('create <user>')
    .description('create an application password, which is shown only once')
    .addOption(byOption())
    .requiredOption('--name <name>', 'what the password is for')
    .action(async (identifier: string, { by, name }: { by?: IdentifierKind; name: string }) => {
      if (name.trim() === '') throw new CliError(2, '--name must not be empty. It describes what the password is for.')
      const { passwords } = await limiterToChange()
      const { id, login } = await user(identifier, by)
      const created = await passwords.create(id, name.trim())
      print(
        `Created the application password "${created.name}" for ${login} with the id ${created.id}. It will not be shown again:`,
      )
      print(created.password)
    })

  command
    .command('list <user>')
    .description('list the application passwords of a user')
    .addOption(byOption())
    .addOption(formatOption())
    .action(async (identifier: string, { by, format }: { by?: IdentifierKind; format: string }) => {
      const { id, login } = await user(identifier, by)
      const passwords = await (await limiter()).passwords.list(id)
      if (passwords.length === 0 && format === 'table') return print(`${login} has no application passwords.`)
      const rows = passwords.map((password) => ({
        id: password.id,
        created: new Date(password.createdAt).toISOString(),
        name: password.name,
      }))
      printRows(rows, ['id', 'created', 'name'], format)
    })

  command
    .command('revoke <user> <id>')
    .description('revoke an application password')
    .addOption(byOption())
    .option('--yes', 'do not ask')
    .action(async (identifier: string, passwordId: string, { by, yes }: { by?: IdentifierKind; yes?: boolean }) => {
      const { passwords } = await limiterToChange()
      const { id, login } = await user(identifier, by)
      await confirm(`Revoke this application password of ${login}?`, yes)
      if (!(await passwords.revoke(id, passwordId))) {
        throw new CliError(1, `${login} has no application password with this id.`)
      }
      print('Revoked.')
    })

  return command
}
