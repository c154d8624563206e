import { SessmgrError } from '../../ground/errors.ts'
import { createKeys } from './keys.ts'
import type { RedisCalls } from './redis-calls.ts'
import type { RedisClient } from './redis-client.ts'

const BATCH = 500

/** Matches the keys that keys.ts builds, without the prefix. Other keys with the prefix belong to the application. */
const OWN = /^(\{[^{}]*\}:[sp]|\{people\}:(recent|most|sum)|transient:.*|generation:.*|epoch|options)$/s

/**
 * Deletes every key that the store has created with a prefix, on every primary of a cluster.
 *
 * Scans the whole key space. Meant only for uninstalling.
 *
 * Deletes the options first and last. They contain the registry id, without which no process treats an unregistered
 * session as ended. A process that is still running creates a new id, and what it registers then may also be deleted.
 */
export async function wipeKeys(calls: RedisCalls, prefix: string): Promise<void> {
  const dropOptions = () => calls.ask(async (client) => client.del?.(createKeys(prefix).options))
  await dropOptions()
  for (const node of await nodesOf(calls)) await wipeNode(calls, node, prefix)
  await dropOptions()
}

/** Returns the primaries of a cluster, or the only server. */
function nodesOf(calls: RedisCalls): Promise<readonly RedisClient[]> {
  return calls.ask(async (client) => {
    const lend = async (master: unknown) => (await client.nodeClient?.(master as never)) as RedisClient
    return client.masters ? Promise.all(client.masters.map(lend)) : [client]
  })
}

async function wipeNode(calls: RedisCalls, node: RedisClient, prefix: string): Promise<void> {
  const { scan, del } = node
  if (!scan || !del) {
    throw new SessmgrError(
      'invalid_option',
      `This Redis client cannot list keys. Delete those that start with "${prefix}" by hand.`,
    )
  }
  // Escape glob characters in the prefix.
  const MATCH = `${prefix.replaceAll(/[\\*?[\]]/g, '\\$&')}*`
  let cursor = '0'
  do {
    const found = await calls.ask(() => scan.call(node, cursor, { MATCH, COUNT: BATCH }))
    cursor = String(found.cursor)
    const own = found.keys.filter((key) => OWN.test(key.slice(prefix.length)))
    await Promise.all(own.map((key) => calls.ask(() => del.call(node, key))))
  } while (cursor !== '0')
}
