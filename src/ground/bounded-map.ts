/**
 * A map with a capacity, in entries or in total weight. When the capacity is exceeded, the oldest entries are evicted.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #capacity: number
  /** Reused, because a new iterator would first have to skip all entries evicted since the map last grew. */
  readonly #oldest = this.keys()
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
    while (this.#weight > this.#capacity) this.delete(this.#oldest.next().value as Key)
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
