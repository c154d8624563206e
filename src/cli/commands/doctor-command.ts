import { Command } from 'commander'
import { messageOf } from '../../ground/error-text.ts'
import { helpAt } from '../../ground/help.ts'
import { coreOf } from '../../service/service-core.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { CliContext } from '../cli-context.ts'
import { CliError } from '../cli-error.ts'

const UNNAMED =
  'The configuration has no session store, so it is unknown whether sessions can be watched. Set it: sessmgr({ sessionStore }).'
const KEY = 'sessmgr_doctor'

/**
 * Returns the command `sessmgr doctor`, which shows whether the store works, and whether and why each request has to
 * call it.
 */
export function doctorCommand({ limiter, print }: CliContext): Command {
  return new Command('doctor')
    .description('check the store, and show whether each request has to ask it')
    .action(async () => {
      const { store, sessionStore } = coreOf(await limiter()).options
      await useStore(store)
      print('The store can be read and written.')
      const reason = store.watch ? await store.watch.whyNot(sessionStore) : 'the store cannot report changes'
      if (reason === undefined) {
        print('Requests only read their session, because the store reports every change (watched).')
      } else {
        print(`Each request asks the store whether its session is live (not watched): ${reason}.`)
      }
      if (reason === undefined && !sessionStore) print(UNNAMED)
    })
}

/** Writes and reads once, because a database account may be allowed to do only one of them. */
async function useStore({ transients }: SessmgrStore): Promise<void> {
  try {
    await transients.set(KEY, 'written', 1000)
    await transients.get(KEY)
  } catch (error) {
    const { cause } = error as { cause?: unknown }
    const because = cause === undefined ? '' : `\nCaused by: ${messageOf(cause)}`
    throw new CliError(1, `${messageOf(error)}${because}\nSee ${helpAt('store_unavailable')}`)
  }
}
