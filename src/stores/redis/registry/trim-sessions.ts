import { MOST_SESSIONS } from '../../../sessions/session-registry.ts'
import dropLua from '../lua/registry/drop.lua'
import namesLua from '../lua/registry/names.lua'
import slotLua from '../lua/registry/slot.lua'
import { type RedisScript, redisScript } from '../redis-script.ts'

const NAMES = redisScript(slotLua, namesLua)
const DROP = redisScript(slotLua, dropLua)
const BATCH = 1000

/**
 * Drops the oldest of very many sessions of one user, which a version without a bound has left.
 *
 * Step by step, so that nobody else has to wait: a script that read them all would hold up the whole server.
 */
export async function trimSessions(
  run: (script: RedisScript, args: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const sequences = new Map<string, number>()
  let cursor = '0'
  do {
    const [next, ...pairs] = (await run(NAMES, [cursor])) as [string, ...(string | number)[]]
    for (let index = 0; index < pairs.length; index += 2) sequences.set(String(pairs[index]), Number(pairs[index + 1]))
    cursor = String(next)
  } while (cursor !== '0')
  const youngest = Float64Array.from(sequences.values()).sort()
  const from = Math.max(1, youngest[youngest.length - MOST_SESSIONS] ?? 1)
  const dropped = [...sequences].filter(([, sequence]) => sequence < from).map(([name]) => name)
  for (let first = 0; first < dropped.length; first += BATCH) await run(DROP, dropped.slice(first, first + BATCH))
}
