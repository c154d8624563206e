import type { Command, Setup, User } from '../histories/commands.ts'
import { runCommand } from './run-command.ts'
import type { Told } from './told.ts'
import { type OpenStore, World } from './world.ts'

/** Runs the commands of one history. This folder is all of the oracle that knows the code under test. */
export interface Player {
  /** Runs a command. What happens later in the background is told with it, if `settle` waits for it. */
  run(command: Command, name: string, settle: () => Promise<void>): Promise<Told>
  /** Ends the history. Returns the lines of its activity log. */
  close(): Promise<readonly string[]>
}

/**
 * Begins a history of these users on an empty store.
 *
 * @param open Opens the store. @default as the setup says
 */
export function createPlayer(setup: Setup, users: readonly User[], open?: OpenStore): Player {
  const world = new World(setup, open)
  return {
    async run(command, name, settle) {
      const outcome = await runCommand(world, command, name)
      await settle()
      return world.listener.take(outcome, await world.live(users))
    },
    close: () => world.close(),
  }
}
