import type { OptionStore, StoredOption } from '../../options/option-store.ts'
import writeLua from './lua/write-option.lua'
import type { RedisCalls } from './redis-calls.ts'
import { redisScript } from './redis-script.ts'

const WRITE = redisScript(writeLua)

/** Keeps options in one hash in Redis. */
export class RedisOptionStore implements OptionStore {
  readonly #calls: RedisCalls
  readonly #key: string

  constructor(calls: RedisCalls, key: string) {
    this.#calls = calls
    this.#key = key
  }

  async get(name: string): Promise<StoredOption | undefined> {
    const stored = await this.#calls.ask((client) => client.hGet(this.#key, `=${name}`))
    if (typeof stored !== 'string') return undefined
    const space = stored.indexOf(' ')
    return { revision: stored.slice(0, space), value: JSON.parse(stored.slice(space + 1)) }
  }

  async set(name: string, value: unknown): Promise<void> {
    await this.#write(['set', name, JSON.stringify(value)])
  }

  async swap(name: string, revision: string | undefined, value: unknown): Promise<boolean> {
    return (await this.#write(['swap', name, JSON.stringify(value), revision ?? ''])) !== 0
  }

  async delete(name: string): Promise<void> {
    await this.#write(['delete', name])
  }

  #write(args: readonly string[]): Promise<unknown> {
    return this.#calls.run(WRITE, this.#key, args)
  }
}
