import type { SessmgrStore } from '../../store.ts'
import type { RedisCalls } from '../redis-calls.ts'
import type { RedisClient } from '../redis-client.ts'

/** A session store such as connect-redis, with its own client and key prefix. */
interface PrefixedStore {
  readonly client?: unknown
  readonly prefix?: unknown
}

/** Returns a check of many sessions with one EXISTS, for a session store that uses the same client as this store. */
export function holdsAll(client: RedisClient, calls: RedisCalls): NonNullable<SessmgrStore['holdsAll']> {
  return async (store: PrefixedStore, sessionIds) => {
    const { prefix } = store
    // A cluster has the keys in many slots.
    if (store.client !== client || typeof prefix !== 'string' || 'masters' in client || !client.exists) return false
    const keys = sessionIds.map((id) => prefix + id)
    try {
      return Number(await calls.ask(({ exists }) => exists?.call(client, keys) as Promise<unknown>)) === keys.length
    } catch (error) {
      // A command that Redis refuses may be allowed for single keys.
      if ((error as Error).cause === undefined) throw error
      return false
    }
  }
}
