import type { UserId } from '../../ground/user-id.ts'

/** How long no unknown session of a user is adopted after all were ended: the longest that a browser keeps a cookie. */
const MARK_MS = 400 * 24 * 60 * 60_000

/** Remembers for which users no unknown session is adopted. */
export class AdoptionMarks {
  /** Until when each mark holds, in the order in which they end. */
  readonly #marks = new Map<string, number>()

  set(userId: UserId, now: number): void {
    for (const [key, until] of this.#marks) {
      if (until > now) break
      this.#marks.delete(key)
    }
    // Taken out first, so that the map stays in the order in which the marks end.
    this.#marks.delete(String(userId))
    this.#marks.set(String(userId), now + MARK_MS)
  }

  has(userId: UserId, now: number): boolean {
    return (this.#marks.get(String(userId)) ?? 0) > now
  }

  clear(): void {
    this.#marks.clear()
  }
}
