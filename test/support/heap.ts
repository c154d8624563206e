import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Megabytes that are in use in this process once all garbage is gone. */
export async function heapInUse(): Promise<number> {
  // What a finished request leaves behind is let go over several turns of the event loop.
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    collectGarbage()
  }
  return process.memoryUsage().heapUsed / 2 ** 20
}
