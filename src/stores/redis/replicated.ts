import { SessmgrError } from '../../ground/errors.ts'
import type { RedisClient } from './redis-client.ts'

/**
 * Runs a write and waits until a replica has it.
 *
 * WAIT only covers writes on its own connection, so both use the same one, whatever the kind of client.
 *
 * @throws SessmgrError `store_unavailable` if no replica confirms in time; the primary may have the write.
 */
export async function replicated<T>(
  client: RedisClient,
  key: string,
  timeoutMs: number,
  write: (connection: RedisClient) => Promise<T>,
): Promise<T> {
  return (await onOneConnection(client, key, async (connection) => {
    if (!connection.wait) throw new SessmgrError('invalid_option', 'This Redis client cannot WAIT for a replica.')
    const result = await write(connection)
    const confirmed = Number(await connection.wait(1, timeoutMs))
    if (confirmed >= 1) return result
    throw new SessmgrError('store_unavailable', 'No Redis replica has confirmed the change. Try again shortly.')
  })) as T
}

/** Checks whether a client can provide the single connection that {@link replicated} needs. */
export function canReplicate(client: RedisClient): boolean {
  return [client.execute, client.use, client.getNodeClientForKey, client.wait].some((way) => typeof way === 'function')
}

async function onOneConnection(
  client: RedisClient,
  key: string,
  task: (connection: RedisClient) => Promise<unknown>,
): Promise<unknown> {
  if (client.execute) return client.execute(task)
  if (client.use) return client.use(task)
  if (client.getNodeClientForKey) return task((await client.getNodeClientForKey(key, false)) as RedisClient)
  return task(client)
}
