/** How many changes of a map without a step begin a new round. */
const MOST_PAUSES = 100

/** Steps through the entries of a map, round after round. */
export class Round<Entry> {
  readonly #begin: () => Iterator<Entry>
  #at: Iterator<Entry> | undefined
  #pauses = 0

  constructor(begin: () => Iterator<Entry>) {
    this.#begin = begin
  }

  /** Returns the next entry, or undefined at the end of a round. */
  step(): Entry | undefined {
    this.#pauses = 0
    // Reused, because a new iterator would first have to skip all entries deleted since the map last grew.
    this.#at ??= this.#begin()
    const { done, value } = this.#at.next()
    if (!done) return value
    this.#at = undefined
    return undefined
  }

  /** Notes an addition without a step. An unused iterator keeps every table in memory that its map has outgrown. */
  pause(): void {
    this.#pauses += 1
    if (this.#pauses > MOST_PAUSES) this.#at = undefined
  }
}

/**
 * A map with a capacity, in entries or in total weight. When the capacity is exceeded, the oldest entries are evicted.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #capacity: number
  readonly #oldest = new Round(() => this.keys())
  readonly #weigh: (value: Value) => number
  #weight = 0

  constructor(capacity: number, weigh: (value: Value) => number = () => 1) {
    super()
    this.#capacity = capacity
    this.#weigh = weigh
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    this.#weight += this.#weigh(value)
    if (this.#weight <= this.#capacity) this.#oldest.pause()
    while (this.#weight > this.#capacity) this.delete(this.#oldest.step() as Key)
    return this
  }

  override delete(key: Key): boolean {
    if (!this.has(key)) return false
    this.#weight -= this.#weigh(this.get(key) as Value)
    return super.delete(key)
  }

  override clear(): void {
    super.clear()
    this.#weight = 0
  }
}
