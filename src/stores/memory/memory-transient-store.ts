import { BoundedMap } from '../../ground/bounded-map.ts'
import type { Clock } from '../../ground/clock.ts'
import type { TransientStore } from '../../options/transient-store.ts'

const CAPACITY = 10_000

/** A transient store in memory. When it is full, it evicts the oldest entries. */
export class MemoryTransientStore implements TransientStore {
  readonly #clock: Clock
  readonly #texts = new BoundedMap<string, { value: string; until: number }>(CAPACITY)
  readonly #generations = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wipe(): void {
    this.#texts.clear()
    this.#generations.clear()
  }

  async get(key: string): Promise<string | undefined> {
    const kept = this.#texts.get(key)
    if (kept && kept.until > this.#clock.now()) return kept.value
    this.#texts.delete(key)
    return undefined
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    this.#texts.set(key, { value, until: this.#clock.now() + ttlMs })
  }

  async generation(group: string): Promise<number> {
    return this.#generations.get(group) ?? 0
  }

  async advance(group: string): Promise<number> {
    const generation = (this.#generations.get(group) ?? 0) + 1
    this.#generations.set(group, generation)
    return generation
  }
}
