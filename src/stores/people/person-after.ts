import type { IndexedPerson, PersonChange } from '../../sessions/people-index.ts'

/** Returns a person's entry after a change, or undefined if there is none. */
export function personAfter(present: IndexedPerson | undefined, change: PersonChange): IndexedPerson | undefined {
  const { userId } = change
  if ('live' in change) {
    if (present && present.at > change.at) return present
    return change.live > 0 ? { userId, at: change.at, live: change.live } : undefined
  }
  if ('added' in change) {
    const { at, live } = present ?? { at: 0, live: 0 }
    return { userId, at: Math.max(at, change.at), live: live + change.added }
  }
  if (!present || present.live <= change.ended) return undefined
  return { ...present, live: present.live - change.ended }
}
