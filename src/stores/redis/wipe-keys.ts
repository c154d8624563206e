import { SessmgrError } from '../../ground/errors.ts'
import { createKeys } from './keys.ts'
import type { RedisCalls } from './redis-calls.ts'
import type { RedisClient } from './redis-client.ts'

const BATCH = 500

/** What keys.ts spells, behind the prefix: anything else there belongs to somebody else. */
const OWN = /^(\{[^{}]*\}:[sp]|transient:.*|generation:.*|epoch|options)$/s

/**
 * Deletes every key of the store below a prefix, from every master of a cluster.
 *
 * Walks the whole key space, as nothing else in the store does: it is for uninstalling alone.
 *
 * The options go first and last. With them goes the name of the registry, without which no process takes a session for
 * ended that is not registered; one that runs meanwhile makes a new name, and what it then registers may be wiped too.
 */
export async function wipeKeys(calls: RedisCalls, prefix: string): Promise<void> {
  const dropOptions = () => calls.ask(async (client) => client.del?.(createKeys(prefix).options))
  await dropOptions()
  for (const node of await nodesOf(calls)) await wipeNode(calls, node, prefix)
  await dropOptions()
}

/** Finds the masters of a cluster, or the one server. */
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
      `This Redis client cannot list keys; delete those below "${prefix}" by hand.`,
    )
  }
  // Glob characters of the prefix stand for themselves.
  const MATCH = `${prefix.replaceAll(/[\\*?[\]]/g, '\\$&')}*`
  let cursor = '0'
  do {
    const found = await calls.ask(() => scan.call(node, cursor, { MATCH, COUNT: BATCH }))
    cursor = String(found.cursor)
    const own = found.keys.filter((key) => OWN.test(key.slice(prefix.length)))
    await Promise.all(own.map((key) => calls.ask(() => del.call(node, key))))
  } while (cursor !== '0')
}
