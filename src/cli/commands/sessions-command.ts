import { Command, InvalidArgumentError } from 'commander'
import type { IdentifierKind } from '../../host/users.ts'
import { TOKEN_PATTERN } from '../../sessions/session-record.ts'
import { byOption, type CliContext, formatOption } from '../cli-context.ts'
import { CliError } from '../cli-error.ts'
import { isoTime, plural, printRows } from '../output.ts'

const COLUMNS = [
  'token',
  'created',
  'last_seen',
  'expires',
  'ip',
  'user_agent',
  'label',
  'counts',
  'actor',
  'bound',
] as const
const BY_ADMIN = { by: 'admin' } as const

interface DestroyOptions {
  readonly by?: IdentifierKind
  readonly token?: string
  readonly label?: string
  readonly yes?: boolean
}

/** Returns the `sessmgr sessions` command. */
export function sessionsCommand({ limiter, limiterToChange, user, confirm, print }: CliContext): Command {
  const command = new Command('sessions').description('list, count and end login sessions')

  command
    .command('list <user>')
    .description('list the live sessions of a user, given by id, email address or login name')
    .addOption(byOption())
    .option('--label <label>', 'only sessions with this label')
    .addOption(formatOption())
    .action(
      async (identifier: string, { by, format, label }: { by?: IdentifierKind; format: string; label?: string }) => {
        const { id, login } = await user(identifier, by)
        const sessions = await (await limiter()).sessions.list(id, { label })
        if (sessions.length === 0 && format === 'table') return print(`${login} has no live sessions.`)
        const rows = sessions.map((session) => ({
          token: session.token,
          created: isoTime(session.createdAt),
          last_seen: isoTime(session.lastSeenAt),
          expires: isoTime(session.expiresAt),
          label: session.label,
          counts: session.counts,
          actor: session.actor,
          bound: session.bound !== null,
          ip: session.ip,
          user_agent: session.userAgent,
        }))
        printRows(rows, COLUMNS, format)
      },
    )

  command
    .command('count <user>')
    .description("count a user's live sessions that count toward the limit")
    .addOption(byOption())
    .action(async (identifier: string, { by }: { by?: IdentifierKind }) => {
      const { id } = await user(identifier, by)
      print(String(await (await limiter()).sessions.count(id)))
    })

  command
    .command('destroy <user>')
    .description("end all of a user's sessions, or only some")
    .addOption(byOption())
    .option('--token <token>', 'end only the session with this token', onlyToken)
    .option('--label <label>', 'end only the sessions with this label')
    .option('--yes', 'do not ask')
    .action(async (identifier: string, { by, token, label, yes }: DestroyOptions) => {
      if (token !== undefined) requireToken(token)
      if (token !== undefined && label !== undefined) throw new CliError(2, 'Give --token or --label, not both.')
      if (label === '') throw new CliError(2, '--label takes a label. Nothing was changed.')
      const { sessions } = await limiterToChange()
      const { id, login } = await user(identifier, by)
      if (token === undefined) {
        await confirm(`End every session of ${login}${label === undefined ? '' : ` with the label ${label}`}?`, yes)
        const count = await sessions.endAll(id, { ...BY_ADMIN, ...(label !== undefined && { label }) })
        return print(`Ended ${plural(count, 'session')} of ${login}.`)
      }
      await confirm(`End this session of ${login}?`, yes)
      if (!(await sessions.end(id, token, BY_ADMIN))) throw new CliError(1, `${login} has no session with this token.`)
      print(`Ended 1 session of ${login}.`)
    })

  command
    .command('destroy-all')
    .description('log out every user of the site, without exception')
    .option('--yes', 'do not ask')
    .action(async ({ yes }: { yes?: boolean }) => {
      const { sessions } = await limiterToChange()
      await confirm('Log out every user of the site?', yes)
      const epoch = await sessions.logoutAllUsers(undefined, BY_ADMIN)
      print(`All users are logged out as of ${isoTime(epoch * 1000)}. Each session ends on its next request.`)
    })

  return command
}

/** Rejects a second `--token`, which would otherwise replace the first one. */
function onlyToken(token: string, earlier?: string): string {
  if (earlier === undefined) return token
  throw new InvalidArgumentError('Give one --token; run the command again for each session. Nothing was changed.')
}

/** Rejects an invalid token. An empty token might otherwise count as missing, and end every session. */
function requireToken(token: string): void {
  if (TOKEN_PATTERN.test(token)) return
  throw new CliError(
    2,
    '--token takes a session token of 64 hexadecimal digits; run "sessions list" to see them. Nothing was changed.',
  )
}
