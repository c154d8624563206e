import { setTimeout as sleep } from 'node:timers/promises'
import type { Told } from '../driver/told.ts'
import type { Command, History } from '../histories/commands.ts'
import { usersOf } from '../histories/commands.ts'
import type { CreatePlayer, Transcript } from './play.ts'

/** Longer than a history takes, in virtual time as well. */
const LONG_MS = 3_601_500
/** Commands whose outcome depends on time, or that take a second. */
const TIMED: readonly Command['do'][] = ['wait', 'set clock', 'erase', 'race']

/** Returns a history without everything that needs a clock of its own. */
export function timeless(history: History): History {
  const { setup, commands } = history
  const lasting = (command: Command): Command => ({
    ...command,
    ...('life' in command && { life: Math.max(command.life, LONG_MS) }),
    ...('touch' in command && command.touch > 0 && { touch: Math.max(command.touch, LONG_MS) }),
    ...('seconds' in command && { seconds: 900 }),
  })
  const isTimed = (command: Command): boolean =>
    TIMED.includes(command.do) || ('meanwhile' in command && command.meanwhile !== undefined)
  return {
    ...history,
    setup: { ...setup, storeAhead: 0, store: 'memory', channels: false, connections: false, activity: 'none' },
    commands: commands.filter((command) => !isTimed(command)).map(lasting),
  }
}

/** Plays a history in real time. Each command comes some milliseconds after the one before. */
export async function playInRealTime(
  history: History,
  createPlayer: CreatePlayer,
  open: Parameters<CreatePlayer>[2],
): Promise<Transcript> {
  const player = createPlayer(history.setup, usersOf(history), open)
  const steps: Told[] = []
  const settle = () => sleep(15).then(() => {})
  for (const [index, command] of history.commands.entries()) {
    steps.push(await player.run(command, `s${index + 1}`, settle))
  }
  return { steps, activity: await player.close() }
}
