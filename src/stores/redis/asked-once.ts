/**
 * Shares one read among all callers in the same turn of the event loop. Their requests have all arrived before the
 * read, so it sees every change that was complete when they were sent.
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

  /** Discards all results, because this process has changed the data. */
  forget(): void {
    this.#answers.clear()
  }
}
