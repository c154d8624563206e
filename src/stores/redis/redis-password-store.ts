import type { ApplicationPasswordStore, StoredPassword } from '../../auth/application-password-store.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Keys } from './keys.ts'
import hasLua from './lua/has-password.lua'
import listLua from './lua/list-passwords.lua'
import writeLua from './lua/write-password.lua'
import type { RedisCalls } from './redis-calls.ts'
import { type RedisScript, redisScript } from './redis-script.ts'

const HAS = redisScript(hasLua)
const LIST = redisScript(listLua)
const WRITE = redisScript(writeLua)

/** Stores application passwords in Redis, in one hash per user. */
export class RedisPasswordStore implements ApplicationPasswordStore {
  readonly #calls: RedisCalls
  readonly #keys: Keys

  constructor(calls: RedisCalls, keys: Keys) {
    this.#calls = calls
    this.#keys = keys
  }

  async add(userId: UserId, password: StoredPassword): Promise<void> {
    await this.#run(WRITE, userId, [password.id, JSON.stringify(password)])
  }

  async list(userId: UserId): Promise<readonly StoredPassword[]> {
    const passwords = ((await this.#run(LIST, userId)) as string[]).map((json) => JSON.parse(json) as StoredPassword)
    return passwords.toSorted((a, b) => a.createdAt - b.createdAt)
  }

  async has(userId: UserId, hash: string): Promise<boolean> {
    return (await this.#run(HAS, userId, [hash])) === 1
  }

  async remove(userId: UserId, id: string): Promise<boolean> {
    return (await this.#run(WRITE, userId, [id])) === 1
  }

  #run(script: RedisScript, userId: UserId, args?: readonly string[]): Promise<unknown> {
    return this.#calls.run(script, this.#keys.passwords(userId), args)
  }
}
