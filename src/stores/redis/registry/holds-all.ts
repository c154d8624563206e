import type { SessmgrStore } from '../../store.ts'
import type { RedisCalls } from '../redis-calls.ts'
import type { RedisClient } from '../redis-client.ts'

/** A session store such as connect-redis, with its own client and what stands before its keys. */
interface PrefixedStore {
  readonly client?: unknown
  readonly prefix?: unknown
}

/** Creates what asks for many sessions by one EXISTS, where the session store uses the very client of this store. */
export function holdsAll(client: RedisClient, calls: RedisCalls): NonNullable<SessmgrStore['holdsAll']> {
  return async (store: PrefixedStore, sessionIds) => {
    const { prefix } = store
    // A cluster has the keys in many slots.
    if (store.client !== client || typeof prefix !== 'string' || 'masters' in client || !client.exists) return false
    const keys = sessionIds.map((id) => prefix + id)
    try {
      return Number(await calls.ask(({ exists }) => exists?.call(client, keys) as Promise<unknown>)) === keys.length
    } catch (error) {
      // What Redis itself refuses, it may allow one by one.
      if ((error as Error).cause === undefined) throw error
      return false
    }
  }
}
