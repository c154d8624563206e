import { BoundedMap } from '../ground/bounded-map.ts'
import type { Clock } from '../ground/clock.ts'
import type { TransientStore } from '../options/transient-store.ts'

const CAPACITY = 10_000

/** Matches the keys of strings that only strings of the same kind may evict. */
const APART = /^(?:erased|guesses|pending:choices|pending:void|pending|ended):/

interface Entry {
  readonly value: string
  readonly until: number
}

/**
 * A transient store in memory. When full, it evicts the oldest entries, but only of the same kind: pending logins must
 * not evict strings that limit a user.
 */
export class MemoryTransientStore implements TransientStore {
  readonly #clock: Clock
  readonly #kinds = new Map<string | undefined, BoundedMap<string, Entry>>()
  readonly #generations = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wipe(): void {
    this.#kinds.clear()
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

  async swap(key: string, before: string | undefined, value: string, ttlMs: number): Promise<string | undefined> {
    const kept = this.#entriesOf(key).get(key)
    const found = kept && kept.until > this.#clock.now() ? kept.value : undefined
    if (found === before) await this.set(key, value, ttlMs)
    return found
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
    const kind = APART.exec(key)?.[0]
    const known = this.#kinds.get(kind)
    if (known) return known
    const entries = new BoundedMap<string, Entry>(CAPACITY)
    this.#kinds.set(kind, entries)
    return entries
  }
}
