/**
 * Asks once for everybody who wants to know the same in one turn of the event loop. Their requests had all arrived when that
 * turn began, so a change that was over before one of them was sent is always seen.
 */
export class AskedOnce<T> {
  readonly #answers = new Map<string, Promise<T>>()

  /** Returns the answer of this turn, and asks the question if nobody has. */
  of(name: string, question: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(name)
    if (known) return known
    if (this.#answers.size === 0) setImmediate(() => this.forget())
    const answer = question()
    this.#answers.set(name, answer)
    return answer
  }

  /** Has everything asked again: this process has changed it. */
  forget(): void {
    this.#answers.clear()
  }
}
