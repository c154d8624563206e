import type { UserId } from '../../ground/user-id.ts'

/**
 * How long a user's unknown sessions are not adopted after all were ended: the longest time that browsers keep a
 * cookie.
 */
const MARK_MS = 400 * 24 * 60 * 60_000

/** Remembers the users whose unknown sessions must not be adopted. */
export class AdoptionMarks {
  /** When each mark expires, soonest first. */
  readonly #marks = new Map<string, number>()

  set(userId: UserId, now: number): void {
    for (const [key, until] of this.#marks) {
      if (until > now) break
      this.#marks.delete(key)
    }
    // Delete the old mark first, so that the map stays sorted by expiry.
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
