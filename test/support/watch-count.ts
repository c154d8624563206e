import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Sessmgr, UserId } from '../../src/index.ts'

/**
 * Counts the live sessions of a user repeatedly while a task runs. Returns the highest count, and how often it counted.
 */
export async function highestCount(
  limiter: Sessmgr,
  userId: UserId,
  task: () => Promise<void>,
): Promise<{ highest: number; samples: number }> {
  let running = true
  let highest = 0
  let samples = 0
  const watching = (async () => {
    while (running) {
      highest = Math.max(highest, await limiter.sessions.count(userId))
      samples += 1
      await nextTurn()
    }
  })()
  try {
    await task()
  } finally {
    running = false
    await watching
  }
  return { highest, samples }
}
