import { Command } from 'commander'
import type { IdentifierKind } from '../../host/users.ts'
import type { LimitExplanation } from '../../limiter/decision/explain-login.ts'
import { A_MAXIMUM, isMaximum, numberOfDigits } from '../../options/setting-rules.ts'
import { byOption, type CliContext, formatOption } from '../cli-context.ts'
import { CliError } from '../cli-error.ts'
import { isoTime, plainJson, plural, printRows } from '../output.ts'

const COLUMNS = ['token', 'created', 'last_seen', 'expires', 'label', 'counts', 'idle', 'would_end', 'device'] as const

interface Flags {
  readonly by?: IdentifierKind
  readonly mode?: string
  readonly maximum?: string
  readonly userAgent?: string
  readonly label?: string
  readonly format: string
}

/** Returns the `sessmgr explain` command. */
export function explainCommand({ limiter, user, print }: CliContext): Command {
  return new Command('explain')
    .argument('<user>')
    .description('explain how the limit applies to a user and their next login; changes nothing')
    .addOption(byOption())
    .option('--mode <mode>', 'assume this mode')
    .option('--maximum <count>', 'assume this maximum')
    .option('--user-agent <text>', 'user agent of the login, for limits per label')
    .option('--label <label>', 'the label that the application gives the login')
    .addOption(formatOption())
    .action(async (identifier: string, { by, mode, maximum, userAgent, label, format }: Flags) => {
      const count = numberOfDigits(maximum)
      if (count !== undefined && !isMaximum(count))
        throw new CliError(2, `--maximum must be ${A_MAXIMUM}; got "${count}".`)
      const { id, login } = await user(identifier, by)
      const assumed = { mode, maximum: count, userAgent, label }
      const explanation = await (await limiter()).explain(id, assumed)
      const { live, nextLogin, freeAt, maxAge, ...limit } = explanation
      const rows = live.map((session) => ({
        token: session.token,
        created: isoTime(session.createdAt),
        last_seen: isoTime(session.lastSeenAt),
        expires: isoTime(session.expiresAt),
        label: session.label ?? null,
        counts: session.counts,
        idle: session.idle,
        would_end: session.wouldEnd,
        device: session.device,
      }))
      const next = { next_login: nextLogin, ...(freeAt !== undefined && { free_at: isoTime(upToSecond(freeAt)) }) }
      if (format === 'json') return print(plainJson({ ...limit, max_age: maxAge, ...next, sessions: rows }))
      if (format === 'table') for (const line of sentences(login, explanation, userAgent ?? label)) print(line)
      if (rows.length > 0 || format !== 'table') printRows(rows, COLUMNS, format)
    })
}

const SOURCES = { settings: 'from the settings', filter: 'from a filter', options: 'as given' }

function sentences(login: string, explanation: LimitExplanation, userAgent?: string): readonly string[] {
  const { maximum, from, bypassed, enforced, mode, live, nextLogin, need, label, limits, freeAt, maxAge } = explanation
  const counted = live.filter(({ counts }) => counts).length
  const labels = Object.entries(limits ?? {}).map(([name, limit]) => `${name} ${limit}`)
  const ending = live.filter(({ wouldEnd }) => wouldEnd).length
  const be = enforced ? 'is' : 'would be'
  const outcomes = {
    admitted: `${be} admitted`,
    ends: `${be} admitted, and ${enforced ? 'ends' : 'would end'} ${plural(ending, 'session')}`,
    asked: `${be} held until the user chooses ${plural(need ?? 0, 'session')} to end`,
    refused: `${be} refused`,
  }
  return [
    `${login} may have ${plural(maximum, 'session')} (${SOURCES[from]}) and has ${counted}. The mode is ${mode}.`,
    ...(bypassed ? ['The sessmgr_bypass filter exempts this user.'] : []),
    ...(enforced ? [] : ['The limit is not enforced.']),
    `The next login from a new browser ${outcomes[nextLogin]}${label === undefined ? '' : `, by the limit for ${label}`}.`,
    ...(maxAge === 0 ? [] : [`A session ends ${plural(maxAge, 'second')} after its login.`]),
    ...(freeAt === undefined
      ? []
      : [`There will be room at ${isoTime(upToSecond(freeAt))} if the sessions stay unused until then.`]),
    ...(labels.length === 0 || userAgent !== undefined
      ? []
      : [`That depends on the device: the limits per label are ${labels.join(', ')}. Pass --user-agent.`]),
  ]
}

function upToSecond(ms: number): number {
  return Math.ceil(ms / 1000) * 1000
}
