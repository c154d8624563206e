import type { SessmgrStore } from '../../store.ts'
import type { RedisCalls } from '../redis-calls.ts'
import type { RedisClient } from '../redis-client.ts'

/** A session store that exposes its client and key prefix, as connect-redis does. */
interface PrefixedStore {
  readonly client?: unknown
  readonly prefix?: unknown
}

/**
 * Returns a check of many sessions with one EXISTS, for session stores that use the same client as this store.
 */
export function holdsAll(client: RedisClient, calls: RedisCalls): NonNullable<SessmgrStore['holdsAll']> {
  return async (store: PrefixedStore, sessionIds) => {
    const { prefix } = store
    // In a cluster, the keys are in many slots.
    if (store.client !== client || typeof prefix !== 'string' || 'masters' in client) return false
    const keys = sessionIds.map((id) => prefix + id)
    return Number(await calls.tryAsk((each) => each.exists?.(keys))) === keys.length
  }
}
