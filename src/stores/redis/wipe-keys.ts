import { SessmgrError } from '../../errors.ts'
import type { RedisClient } from './redis-client.ts'

const BATCH = 500

/** What keys.ts spells, behind the prefix: anything else there belongs to somebody else. */
const OWN = /^(\{[^{}]*\}:[sp]|transient:.*|generation:.*|epoch|options)$/s

/**
 * Deletes every key of the store below a prefix, from every master of a cluster.
 *
 * Walks the whole key space, as nothing else in the store does: it is for uninstalling alone.
 */
export async function wipeKeys(client: RedisClient, prefix: string): Promise<void> {
  const nodes = client.masters?.map((master) => client.nodeClient?.(master as never) as Promise<RedisClient>)
  for (const node of nodes ? await Promise.all(nodes) : [client]) await wipeNode(node, prefix)
}

async function wipeNode(node: RedisClient, prefix: string): Promise<void> {
  if (!node.scan || !node.del) {
    throw new SessmgrError(
      'invalid_option',
      `This Redis client cannot list keys; delete those below "${prefix}" by hand.`,
    )
  }
  // Glob characters of the prefix stand for themselves.
  const MATCH = `${prefix.replaceAll(/[\\*?[\]]/g, '\\$&')}*`
  let cursor = '0'
  do {
    const found = await node.scan(cursor, { MATCH, COUNT: BATCH })
    cursor = String(found.cursor)
    await Promise.all(found.keys.filter((key) => OWN.test(key.slice(prefix.length))).map((key) => node.del?.(key)))
  } while (cursor !== '0')
}
