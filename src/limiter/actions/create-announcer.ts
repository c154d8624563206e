import type { SessmgrError } from '../../ground/errors.ts'
import { type Logger, logError } from '../../ground/logger.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { ActivityLog } from '../activity-log.ts'
import { publishAction } from '../channels.ts'
import type { Directory } from '../directory/directory.ts'
import type { AnnouncedAction } from './announced-action.ts'

interface AnnouncerParts {
  readonly hooks: Hooks
  readonly logger: Logger
  readonly log: ActivityLog | undefined
  noteInDirectory(note: (directory: Directory) => void): void
}

/** Creates what fires actions in order, without waiting for asynchronous subscribers. */
export function createAnnouncer({ hooks, logger, log, noteInDirectory }: AnnouncerParts) {
  const atWork = new Set<Promise<void>>()

  function announce(actions: readonly AnnouncedAction[]): void {
    noteInDirectory((directory) => directory.announced(actions))
    for (const action of actions) {
      publishAction(action)
      if (action[0] === 'sessmgr_session_ended') log?.note('session.ended', action[1], action[2])
      else if (action[0] === 'sessmgr_would_limit') log?.note('login.would_limit', action[1], action[2])
      const [name, ...parameters] = action
      const fire = hooks.doAction as (name: string, ...parameters: unknown[]) => Promise<void>
      // A strategy of an add-on may name an unknown action.
      const run = fire(name, ...parameters)
        .catch((error: SessmgrError) => logError(logger, error))
        .catch(() => {})
      inBackground(run)
    }
  }

  function inBackground(work: Promise<void>): void {
    atWork.add(work)
    void work.finally(() => atWork.delete(work))
  }

  /** Waits for everything in the background. */
  async function settled(): Promise<void> {
    // Calls in progress may fire further actions.
    while (atWork.size > 0) await Promise.all(atWork)
  }

  return { announce, inBackground, settled }
}
