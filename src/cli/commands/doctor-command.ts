import { Command } from 'commander'
import { coreOf } from '../../service/service-core.ts'
import type { CliContext } from '../cli-context.ts'

const UNNAMED =
  'The configuration has no session store, so it is unknown whether sessions can be watched. Set it: sessmgr({ sessionStore }).'

/** `sessmgr doctor`: whether requests have to ask the store for the sake of the limit, and why. */
export function doctorCommand({ limiter, print }: CliContext): Command {
  return new Command('doctor').description('show what each request asks the store, and why').action(async () => {
    const { store, sessionStore } = coreOf(await limiter()).options
    const reason = store.watch ? await store.watch.whyNot(sessionStore) : 'the store cannot report changes'
    if (reason === undefined) {
      print('A request only reads its session: the store reports every change (watched).')
    } else {
      print(`Each request asks the store whether its session is live (not watched): ${reason}.`)
    }
    if (reason === undefined && !sessionStore) print(UNNAMED)
  })
}
