import { createInterface } from 'node:readline/promises'
import type { UserSummary } from '../host/host.ts'
import { resolveUser } from '../host/resolve-user.ts'
import type { Sessmgr } from '../service/sessmgr.ts'
import { CliError } from './cli-error.ts'

/** What every command works with. */
export interface CliContext {
  limiter(): Promise<Sessmgr>
  /** Finds a user by id, e-mail address or login name, or ends the command. */
  user(identifier: string): Promise<UserSummary>
  /** Asks before something is destroyed, unless `--yes` was given. */
  confirm(question: string, yes: boolean | undefined): Promise<void>
  print(line: string): void
}

/** Creates the context over a limiter that is loaded when the first command asks for it. */
export function createCliContext(load: () => Promise<Sessmgr>): CliContext {
  let loading: Promise<Sessmgr> | undefined
  const limiter = () => {
    loading ??= load()
    return loading
  }
  return {
    limiter,
    async user(identifier) {
      const { host } = await limiter()
      if (!host) throw new CliError(1, 'The limiter does not know its users. Configure it: sessmgr({ host: … }).')
      const user = await resolveUser(host.users, identifier)
      if (user === undefined) throw new CliError(1, `There is no user "${identifier}".`)
      return host.users.summary(user)
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
