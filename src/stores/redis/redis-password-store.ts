import type { ApplicationPasswordStore, StoredPassword } from '../../auth/application-password-store.ts'
import type { CallDeadline } from '../../ground/call-deadline.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Keys } from './keys.ts'
import hasLua from './lua/has-password.lua'
import listLua from './lua/list-passwords.lua'
import writeLua from './lua/write-password.lua'
import type { RedisClient } from './redis-client.ts'
import { type RedisScript, redisScript, runScript } from './redis-script.ts'

const HAS = redisScript(hasLua)
const LIST = redisScript(listLua)
const WRITE = redisScript(writeLua)

/** Keeps application passwords in Redis: one hash for each user. */
export class RedisPasswordStore implements ApplicationPasswordStore {
  readonly #client: RedisClient
  readonly #keys: Keys
  readonly #deadline: CallDeadline

  constructor(client: RedisClient, keys: Keys, deadline: CallDeadline) {
    this.#client = client
    this.#keys = keys
    this.#deadline = deadline
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

  #run(script: RedisScript, userId: UserId, args: readonly string[] = []): Promise<unknown> {
    return this.#deadline.run(() => runScript(this.#client, script, this.#keys.passwords(userId), args))
  }
}
