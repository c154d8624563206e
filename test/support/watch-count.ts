import { setImmediate as nextTurn } from 'node:timers/promises'

/** Counts over and over while a task runs. Returns its result, the highest count, and how often it counted. */
export async function highestWhile<Result>(
  count: () => Promise<number>,
  task: () => Promise<Result>,
  pause: () => Promise<unknown> = nextTurn,
): Promise<{ result: Result; highest: number; samples: number }> {
  let running = true
  let highest = 0
  let samples = 0
  const watching = (async () => {
    while (running) {
      highest = Math.max(highest, await count())
      samples += 1
      await pause()
    }
  })()
  let result: Result
  try {
    result = await task()
  } finally {
    running = false
    await watching
  }
  return { result, highest, samples }
}
