import type { ApplicationPasswordStore, StoredPassword } from '../../auth/application-password-store.ts'
import type { UserId } from '../../user-id.ts'

/** Keeps application passwords in this process. */
export class MemoryPasswordStore implements ApplicationPasswordStore {
  readonly #users = new Map<string, Map<string, StoredPassword>>()

  wipe(): void {
    this.#users.clear()
  }

  async add(userId: UserId, password: StoredPassword): Promise<void> {
    const key = String(userId)
    this.#users.set(key, new Map(this.#users.get(key)).set(password.id, password))
  }

  async list(userId: UserId): Promise<readonly StoredPassword[]> {
    return [...(this.#users.get(String(userId))?.values() ?? [])]
  }

  async remove(userId: UserId, id: string): Promise<boolean> {
    return this.#users.get(String(userId))?.delete(id) ?? false
  }
}
