import type { TransientStore } from '../../options/transient-store.ts'
import type { Keys } from './keys.ts'
import advanceLua from './lua/advance-generation.lua'
import takeLua from './lua/take-transient.lua'
import writeLua from './lua/write-transient.lua'
import { readCount } from './read-count.ts'
import type { RedisCalls } from './redis-calls.ts'
import { redisScript } from './redis-script.ts'

const WRITE = redisScript(writeLua)
const TAKE = redisScript(takeLua)
const ADVANCE = redisScript(advanceLua)

/** A transient store in Redis. */
export class RedisTransientStore implements TransientStore {
  readonly #calls: RedisCalls
  readonly #keys: Keys

  constructor(calls: RedisCalls, keys: Keys) {
    this.#calls = calls
    this.#keys = keys
  }

  async get(key: string): Promise<string | undefined> {
    const value = await this.#calls.ask((client) => client.get(this.#keys.transient(key)))
    return typeof value === 'string' ? value : undefined
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    const life = Math.max(1, Math.round(ttlMs))
    await this.#calls.run(WRITE, this.#keys.transient(key), [value, life])
  }

  async take(key: string): Promise<string | undefined> {
    const value = await this.#calls.run(TAKE, this.#keys.transient(key))
    return typeof value === 'string' ? value : undefined
  }

  async generation(group: string): Promise<number> {
    const key = this.#keys.generation(group)
    return readCount(await this.#calls.ask((client) => client.get(key)), key)
  }

  async advance(group: string): Promise<number> {
    return Number(await this.#calls.run(ADVANCE, this.#keys.generation(group)))
  }
}
