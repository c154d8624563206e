import { Command } from 'commander'
import { coreOf } from '../../service/service-core.ts'
import type { CliContext } from '../cli-context.ts'

const UNNAMED =
  'The configuration names no session store, so whether its sessions can be watched is not known: sessmgr({ sessionStore }).'

/** `sessmgr doctor`: whether requests have to ask the store for the sake of the limit, and why. */
export function doctorCommand({ limiter, print }: CliContext): Command {
  return new Command('doctor').description('say what a request asks the store for, and why').action(async () => {
    const { store, sessionStore } = coreOf(await limiter()).options
    const reason = store.watch ? await store.watch.whyNot(sessionStore) : 'the store cannot tell of changes'
    if (reason === undefined) {
      print('A request reads its session and asks for nothing else: the store tells of every change (watched).')
    } else {
      print(`Each request asks the store whether its session is live (not watched): ${reason}.`)
    }
    if (reason === undefined && !sessionStore) print(UNNAMED)
  })
}
