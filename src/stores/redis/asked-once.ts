/**
 * Shares one read between all callers in one turn of the event loop. Their requests had all arrived when that turn began,
 * so a change that completed before one of them was sent is always seen.
 */
export class AskedOnce<T> {
  readonly #answers = new Map<string, Promise<T>>()

  /** Returns the result of this turn, and starts the read if needed. */
  of(name: string, question: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(name)
    if (known) return known
    if (this.#answers.size === 0) setImmediate(() => this.forget())
    const answer = question()
    this.#answers.set(name, answer)
    return answer
  }

  /** Drops all results, because this process has changed the data. */
  forget(): void {
    this.#answers.clear()
  }
}
