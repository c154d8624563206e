import { MOST_SESSIONS } from '../../../sessions/session-registry.ts'
import dropLua from '../lua/registry/drop.lua'
import namesLua from '../lua/registry/names.lua'
import slotLua from '../lua/registry/slot.lua'
import { type RedisScript, redisScript } from '../redis-script.ts'

const NAMES = redisScript(slotLua, namesLua)
const DROP = redisScript(slotLua, dropLua)
const BATCH = 1000

/**
 * Removes the oldest sessions of a user who has very many, left by an older version without a limit.
 *
 * Works in steps, because one script that reads them all would block the whole server.
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
