/** A map that holds at most `capacity` entries. Adding one more evicts the oldest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #capacity: number

  constructor(capacity: number) {
    super()
    this.#capacity = capacity
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#capacity) this.delete(this.keys().next().value as Key)
    return this
  }
}
