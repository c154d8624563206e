import type { CallDeadline } from '../../ground/call-deadline.ts'
import type { TransientStore } from '../../options/transient-store.ts'
import type { Keys } from './keys.ts'
import advanceLua from './lua/advance-generation.lua'
import writeLua from './lua/write-transient.lua'
import { readCount } from './read-count.ts'
import type { RedisClient } from './redis-client.ts'
import { redisScript, runScript } from './redis-script.ts'

const WRITE = redisScript(writeLua)
const ADVANCE = redisScript(advanceLua)

/** Keeps texts for a while in Redis. */
export class RedisTransientStore implements TransientStore {
  readonly #client: RedisClient
  readonly #keys: Keys
  readonly #deadline: CallDeadline

  constructor(client: RedisClient, keys: Keys, deadline: CallDeadline) {
    this.#client = client
    this.#keys = keys
    this.#deadline = deadline
  }

  async get(key: string): Promise<string | undefined> {
    const value = await this.#deadline.run(() => this.#client.get(this.#keys.transient(key)))
    return typeof value === 'string' ? value : undefined
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    const life = Math.max(1, Math.round(ttlMs))
    await this.#deadline.run(() => runScript(this.#client, WRITE, this.#keys.transient(key), [value, life]))
  }

  async generation(group: string): Promise<number> {
    const key = this.#keys.generation(group)
    return readCount(await this.#deadline.run(() => this.#client.get(key)), key)
  }

  async advance(group: string): Promise<number> {
    return Number(await this.#deadline.run(() => runScript(this.#client, ADVANCE, this.#keys.generation(group))))
  }
}
