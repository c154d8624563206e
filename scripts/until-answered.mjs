import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until a server answers, at most a minute.
 *
 * @param {string} origin
 */
export async function untilAnswered(origin) {
  for (let tries = 0; tries < 600; tries++) {
    const isUp = await fetch(origin).then(
      () => true,
      () => false,
    )
    if (isUp) return
    await sleep(100)
  }
  throw new Error(`Nothing answers at ${origin}.`)
}
