import { createInterface } from 'node:readline/promises'
import { Option } from 'commander'
import { withDeadline } from '../ground/deadline.ts'
import type { HostUsers, UserSummary } from '../host/host.ts'
import { type IdentifierKind, resolveUsers } from '../host/resolve-users.ts'
import type { Sessmgr } from '../service/service.ts'
import { coreOf } from '../service/service-core.ts'
import { CliError, explainError } from './cli-error.ts'

const LOOK_UP_MS = 10_000
const LOCAL = 'the store of this limiter keeps everything in this process'
const ADVICE = 'Give it one that processes share: sessmgr({ store: redisStore({ client }) }).'

/** What every command works with. */
export interface CliContext {
  /** Loads the limiter, once. */
  load(): Promise<Sessmgr>
  /** Gives the limiter to read from. Warns where its store does not have what the application's store has. */
  limiter(): Promise<Sessmgr>
  /** Gives the limiter to change something, or ends the command where the application would not see the change. */
  limiterToChange(): Promise<Sessmgr>
  /** Finds a user by id, e-mail address or login name, by one of them where `kind` says so, or ends the command. */
  user(identifier: string, kind?: IdentifierKind): Promise<UserSummary>
  /** Asks before something is destroyed, unless `--yes` was given. */
  confirm(question: string, yes: boolean | undefined): Promise<void>
  print(line: string): void
}

/** Creates the context over a limiter that is loaded when the first command asks for it. */
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
        process.stderr.write(`Warning: ${LOCAL}, so this is not what the application has. ${ADVICE}\n`)
      return limiter
    },
    async limiterToChange() {
      const limiter = await loaded()
      if (isLocal(limiter))
        throw new CliError(1, `Nothing was changed: ${LOCAL}, so the application would not see it. ${ADVICE}`)
      return limiter
    },
    async user(identifier, kind) {
      const { host } = await loaded()
      if (!host) throw new CliError(1, 'The limiter does not know its users. Configure it: sessmgr({ host: … }).')
      const [user, other] = await lookUp(host.users, identifier, kind)
      if (user === undefined) throw new CliError(1, `There is no user "${identifier}".`)
      if (other === undefined) return user
      const sentence = `"${identifier}" is the login name of one user and the id of another.`
      throw new CliError(1, `${sentence} Say which is meant: --by login or --by id.`)
    },
    async confirm(question, yes) {
      if (yes) return
      if (!process.stdin.isTTY) throw new CliError(1, `${question} Nobody is here to ask; pass --yes.`)
      const prompt = createInterface({ input: process.stdin, output: process.stderr })
      // Ctrl-C and Ctrl-D are a no.
      const answer = await prompt.question(`${question} [y/N] `).catch(() => '')
      prompt.close()
      if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(1, 'Nothing was changed.')
    },
    print: (line) => void process.stdout.write(`${line}\n`),
  }
}

/** Makes the option that says what the identifier of a user is. */
export function byOption(): Option {
  return new Option(
    '--by <kind>',
    'what <user> is; by default digits are an id, with an @ it is an e-mail address',
  ).choices(['id', 'login', 'email'])
}

function isLocal(limiter: Sessmgr): boolean {
  return coreOf(limiter).options.store.local === true
}

async function lookUp<User>(
  users: HostUsers<User>,
  identifier: string,
  kind: IdentifierKind | undefined,
): Promise<readonly UserSummary[]> {
  const slow = `it gave no answer within ${LOOK_UP_MS / 1000} seconds.`
  try {
    const resolving = resolveUsers(users, identifier, kind)
    const found = await withDeadline(resolving, LOOK_UP_MS, () => new CliError(1, slow))
    return found.map((user) => users.summary(user))
  } catch (error) {
    throw new CliError(1, `The look-up of "${identifier}" in host.users failed: ${explainError(error)}`)
  }
}
