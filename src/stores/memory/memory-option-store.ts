import type { OptionStore, StoredOption } from '../../options/option-store.ts'

/** An option store in memory. */
export class MemoryOptionStore implements OptionStore {
  readonly #options = new Map<string, StoredOption>()
  #writes = 0

  wipe(): void {
    this.#options.clear()
  }

  async get(name: string): Promise<StoredOption | undefined> {
    const stored = this.#options.get(name)
    return stored && { value: structuredClone(stored.value), revision: stored.revision }
  }

  async set(name: string, value: unknown): Promise<void> {
    this.#writes += 1
    this.#options.set(name, { value: structuredClone(value), revision: String(this.#writes) })
  }

  async swap(name: string, revision: string | undefined, value: unknown): Promise<boolean> {
    if (this.#options.get(name)?.revision !== revision) return false
    await this.set(name, value)
    return true
  }

  async delete(name: string): Promise<void> {
    this.#options.delete(name)
  }
}
