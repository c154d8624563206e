import { BoundedMap } from '../ground/bounded-map.ts'
import type { Clock } from '../ground/clock.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { UserId } from '../ground/user-id.ts'
import type { TransientStore } from '../options/transient-store.ts'

/** Shortest time between two writes about one password. */
const FRESH_MS = 5 * 60_000
const KEEP_MS = 400 * 24 * 60 * 60_000
const CAPACITY = 1000

/** Remembers when each application password was last used, as long as the cache of the store keeps it. */
export interface PasswordUses {
  /** Records a use without waiting for the store. A failure is ignored, because this only informs. */
  note(userId: UserId, hash: string): void
  /** Returns the time of the last use, in milliseconds since the Unix epoch. Undefined if unknown. */
  last(userId: UserId, hash: string): Promise<number | undefined>
}

/** Remembers the last use of application passwords in the given cache. */
export function createPasswordUses(transients: TransientStore, clock: Clock): PasswordUses {
  const noted = new BoundedMap<string, number>(CAPACITY)
  return {
    note(userId, hash) {
      const key = keyOf(userId, hash)
      const now = clock.now()
      if (now - (noted.get(key) ?? Number.NEGATIVE_INFINITY) < FRESH_MS) return
      noted.set(key, now)
      void transients.set(key, String(now), KEEP_MS).catch(() => {})
    },
    async last(userId, hash) {
      const at = Number(await transients.get(keyOf(userId, hash)).catch(() => undefined))
      return Number.isSafeInteger(at) && at > 0 ? at : undefined
    },
  }
}

function keyOf(userId: UserId, hash: string): string {
  return `password-used:${nodeCrypto().hash('sha256', `${hash} ${userId}`)}`
}
