import type { OptionStore, StoredOption } from '../../options/option-store.ts'
import { AskedOnce } from './asked-once.ts'
import writeLua from './lua/write-option.lua'
import type { RedisCalls } from './redis-calls.ts'
import { redisScript } from './redis-script.ts'

const WRITE = redisScript(writeLua)

/** Stores options in one Redis hash. */
export class RedisOptionStore implements OptionStore {
  readonly #calls: RedisCalls
  readonly #key: string
  readonly #asked = new AskedOnce<StoredOption | undefined>()

  constructor(calls: RedisCalls, key: string) {
    this.#calls = calls
    this.#key = key
  }

  get(name: string): Promise<StoredOption | undefined> {
    return this.#asked.of(name, () => this.#read(name))
  }

  async #read(name: string): Promise<StoredOption | undefined> {
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

  async #write(args: readonly string[]): Promise<unknown> {
    try {
      return await this.#calls.run(WRITE, this.#key, args)
    } finally {
      this.#asked.forget()
    }
  }
}
