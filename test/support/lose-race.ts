import type { Sessmgr } from '../../src/index.ts'
import type { Answer } from './browser.ts'
import { createGate } from './gates.ts'

/**
 * Lets a login of this process lose its slot to another process at the last moment. It has read that a slot is free,
 * and continues only after the other login.
 */
export async function loseRace<Winner>(
  { limiter }: { readonly limiter: Sessmgr },
  login: () => Promise<Answer>,
  loginThere: () => Promise<Winner>,
): Promise<readonly [answer: Answer, winner: Winner]> {
  const gate = createGate()
  limiter.hooks.addFilter('sessmgr_bypass', 'race', async (bypass) => {
    await gate.pass()
    return bypass
  })
  const losing = login()
  await gate.arrived
  const winner = await loginThere()
  gate.open()
  return [await losing, winner]
}
