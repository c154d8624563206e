import type { ApplicationPasswordStore, StoredPassword } from '../../auth/application-password-store.ts'
import type { UserId } from '../../ground/user-id.ts'

/** Stores application passwords in memory. */
export class MemoryPasswordStore implements ApplicationPasswordStore {
  readonly #users = new Map<string, Map<string, StoredPassword>>()
  /** Number of passwords by user and hash. */
  readonly #hashes = new Map<string, number>()

  wipe(): void {
    this.#users.clear()
    this.#hashes.clear()
  }

  async add(userId: UserId, password: StoredPassword): Promise<void> {
    this.#remove(userId, password.id)
    const key = String(userId)
    const passwords = this.#users.get(key) ?? new Map<string, StoredPassword>()
    this.#users.set(key, passwords.set(password.id, password))
    this.#count(userId, password, 1)
  }

  async list(userId: UserId): Promise<readonly StoredPassword[]> {
    return [...(this.#users.get(String(userId))?.values() ?? [])]
  }

  async has(userId: UserId, hash: string): Promise<boolean> {
    return this.#hashes.has(hashKey(userId, hash))
  }

  async remove(userId: UserId, id: string): Promise<boolean> {
    return this.#remove(userId, id)
  }

  #remove(userId: UserId, id: string): boolean {
    const passwords = this.#users.get(String(userId))
    const password = passwords?.get(id)
    if (!passwords || !password) return false
    passwords.delete(id)
    this.#count(userId, password, -1)
    return true
  }

  #count(userId: UserId, { hash }: StoredPassword, change: number): void {
    const key = hashKey(userId, hash)
    const count = (this.#hashes.get(key) ?? 0) + change
    if (count > 0) this.#hashes.set(key, count)
    else this.#hashes.delete(key)
  }
}

function hashKey(userId: UserId, hash: string): string {
  return `${hash} ${userId}`
}
