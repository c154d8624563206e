import { createInterface } from 'node:readline/promises'
import { Option } from 'commander'
import { withDeadline } from '../ground/deadline.ts'
import type { HostUsers, UserSummary } from '../host/host.ts'
import { type IdentifierKind, resolveUsers } from '../host/users.ts'
import type { Sessmgr } from '../service/service.ts'
import { coreOf } from '../service/service-core.ts'
import { CliError, explainError, UnknownUserError } from './cli-error.ts'
import { FORMATS, plainLine, plainText } from './output.ts'

const LOOK_UP_MS = 10_000
const LOCAL = 'this limiter uses a memory store, which other processes cannot see'
const ADVICE = 'Use a shared store: sqliteStore(), postgresStore() or redisStore().'

/** Functions that all commands share. */
export interface CliContext {
  /** Loads the limiter. Later calls return the same limiter. */
  load(): Promise<Sessmgr>
  /** Returns the limiter for reading. Warns if the running application uses a different store. */
  limiter(): Promise<Sessmgr>
  /** Returns the limiter for changes. Ends the command if the running application would not see the changes. */
  limiterToChange(): Promise<Sessmgr>
  /**
   * Finds a user by id, email address or login name, or only by the given `kind`. Ends the command unless exactly one
   * user is found.
   */
  user(identifier: string, kind?: IdentifierKind): Promise<UserSummary>
  /** Asks for confirmation before a destructive change, unless `--yes` was passed. */
  confirm(question: string, yes: boolean | undefined): Promise<void>
  print(line: string): void
}

/** Creates the context. The limiter is loaded when a command first needs it. */
export function createCliContext(load: () => Promise<Sessmgr>): CliContext {
  let loading: Promise<Sessmgr> | undefined
  const loaded = () => {
    loading ??= load()
    return loading
  }
  return {
    load: loaded,
    async limiter() {
      const limiter = await loaded()
      if (isLocal(limiter))
        process.stderr.write(`Warning: ${LOCAL}. The running application has its own data. ${ADVICE}\n`)
      return limiter
    },
    async limiterToChange() {
      const limiter = await loaded()
      if (isLocal(limiter)) throw new CliError(1, `Nothing was changed: ${LOCAL}. ${ADVICE}`)
      return limiter
    },
    async user(identifier, kind) {
      const { host } = await loaded()
      if (!host) throw new CliError(1, 'The limiter has no host to find users with. Set it: sessmgr({ host: … }).')
      const [user, other] = await lookUp(host.users, identifier, kind)
      if (user === undefined) throw new UnknownUserError(identifier)
      if (other === undefined) return user
      const sentence = `"${identifier}" is one user's login name and another user's id.`
      throw new CliError(1, `${sentence} Add --by login or --by id.`)
    },
    async confirm(question, yes) {
      if (yes) return
      if (!process.stdin.isTTY)
        throw new CliError(1, `${question} Nothing was changed, because this is not a terminal. Pass --yes to confirm.`)
      const prompt = createInterface({ input: process.stdin, output: process.stderr })
      // Ctrl-C and Ctrl-D count as no.
      const answer = await prompt.question(plainText(`${question} [y/N] `)).catch(() => '')
      prompt.close()
      if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(1, 'Nothing was changed.')
    },
    print: (line) => void process.stdout.write(`${plainText(line)}\n`),
  }
}

/** Returns the `--by` option, which chooses how a user is identified. */
export function byOption(): Option {
  return new Option(
    '--by <kind>',
    'kind of <user> (default: digits are an id, a value with an @ is an email address)',
  ).choices(['id', 'login', 'email'])
}

/** Returns the `--format` option of commands that print rows. */
export function formatOption(): Option {
  return new Option('--format <format>', new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(FORMATS)).default(
    'table',
  )
}

function isLocal(limiter: Sessmgr): boolean {
  return coreOf(limiter).options.store.local === true
}

async function lookUp<User>(
  users: HostUsers<User>,
  identifier: string,
  kind: IdentifierKind | undefined,
): Promise<readonly UserSummary[]> {
  const slow = `it did not respond within ${LOOK_UP_MS / 1000} seconds.`
  try {
    const resolving = resolveUsers(users, identifier, kind)
    const found = await withDeadline(resolving, LOOK_UP_MS, () => new CliError(1, slow))
    const summaries = found.map((user) => users.summary(user))
    return summaries.map(({ login, ...others }) => ({ ...others, login: plainLine(login) }))
  } catch (error) {
    throw new CliError(1, `Finding "${identifier}" in host.users failed: ${explainError(error)}`)
  }
}
