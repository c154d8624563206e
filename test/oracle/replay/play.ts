import type { createPlayer as createPlayerType } from '../driver/driver.ts'
import type { Told } from '../driver/told.ts'
import { type History, usersOf } from '../histories/commands.ts'
import { beginAgain } from './quick-crypto.ts'
import { VirtualTime } from './virtual-time.ts'

/** Milliseconds from one command to the next: more than any command waits, so that waiting changes no later time. */
const SLOT_MS = 2000
const START = Date.UTC(2030, 0, 7, 12)

export type CreatePlayer = typeof createPlayerType

/** What was told after each command, and the lines of the activity log at the end. */
export interface Transcript {
  readonly steps: readonly Told[]
  readonly activity: readonly string[]
}

/** Plays a history on some rules, in time of its own. */
export async function play(history: History, createPlayer: CreatePlayer): Promise<Transcript> {
  const time = new VirtualTime(START)
  time.install()
  beginAgain()
  try {
    const player = createPlayer(history.setup, usersOf(history))
    const steps: Told[] = []
    for (const [index, command] of history.commands.entries()) {
      const begun = time.elapsed
      if (command.do === 'wait') await time.pass(command.ms)
      if (command.do === 'set clock') time.setClock(command.ms)
      const spent = () => (command.do === 'wait' ? 0 : time.elapsed - begun)
      const told = player.run(command, `s${index + 1}`, () => time.pass(Math.max(0, SLOT_MS - spent())))
      steps.push(await time.run(told))
      if (command.do === 'race') break
    }
    return { steps, activity: await time.run(player.close()) }
  } finally {
    time.uninstall()
  }
}
