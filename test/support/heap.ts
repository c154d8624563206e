import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
export const collectGarbage = runInNewContext('gc') as () => void

/** Returns the megabytes in use in this process after garbage collection. */
export async function heapInUse(): Promise<number> {
  // The remains of a finished request are released over several turns of the event loop.
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    collectGarbage()
  }
  return process.memoryUsage().heapUsed / 2 ** 20
}
