import { BoundedMap } from '../../ground/bounded-map.ts'
import type { Clock } from '../../ground/clock.ts'
import type { TransientStore } from '../../options/transient-store.ts'

const CAPACITY = 10_000

interface Entry {
  readonly value: string
  readonly until: number
}

/**
 * A transient store in memory. When it is full, it evicts the oldest entries, but reserves space for notes about ended
 * sessions and for pending logins.
 */
export class MemoryTransientStore implements TransientStore {
  readonly #clock: Clock
  readonly #texts = new BoundedMap<string, Entry>(CAPACITY)
  readonly #endedNotes = new BoundedMap<string, Entry>(CAPACITY)
  readonly #pending = new BoundedMap<string, Entry>(CAPACITY)
  readonly #generations = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wipe(): void {
    this.#texts.clear()
    this.#endedNotes.clear()
    this.#pending.clear()
    this.#generations.clear()
  }

  async get(key: string): Promise<string | undefined> {
    const entries = this.#entriesOf(key)
    const kept = entries.get(key)
    if (kept && kept.until > this.#clock.now()) return kept.value
    entries.delete(key)
    return undefined
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    this.#entriesOf(key).set(key, { value, until: this.#clock.now() + ttlMs })
  }

  async take(key: string): Promise<string | undefined> {
    const entries = this.#entriesOf(key)
    const kept = entries.get(key)
    entries.delete(key)
    return kept && kept.until > this.#clock.now() ? kept.value : undefined
  }

  async generation(group: string): Promise<number> {
    return this.#generations.get(group) ?? 0
  }

  async advance(group: string): Promise<number> {
    const generation = (this.#generations.get(group) ?? 0) + 1
    this.#generations.set(group, generation)
    return generation
  }

  #entriesOf(key: string): BoundedMap<string, Entry> {
    if (key.startsWith('pending:')) return this.#pending
    return key.startsWith('ended:') ? this.#endedNotes : this.#texts
  }
}
