import type { UserId } from '../ground/user-id.ts'

/** How many people an index keeps. Beyond that, it drops those whose last login is oldest. */
export const MOST_PEOPLE = 100_000

/** A person who has signed in, as the index knows them. */
export interface IndexedPerson {
  /** Id of the user, in the type that was noted: 2 and '2' are two people. */
  readonly userId: UserId
  /** Time of the last login in milliseconds, by the clock of the store. */
  readonly at: number
  /** How many live sessions the person has. Too high if some have expired since. */
  readonly live: number
}

/**
 * A change to a person's sessions. An {@link IndexedPerson} sets the number of live sessions after a login or a count.
 * It is ignored if a later login has been noted; 0 removes the person.
 */
export type PersonChange = IndexedPerson | SessionsAdded | SessionsEnded

/** Sessions of a person have been registered. */
export interface SessionsAdded {
  /** As in {@link IndexedPerson}. */
  readonly userId: UserId
  /** When they were registered. */
  readonly at: number
  /** How many were registered. */
  readonly added: number
}

/** Sessions of a person have ended. The last one removes the person; an unknown person stays unknown. */
export interface SessionsEnded {
  /** As in {@link IndexedPerson}. */
  readonly userId: UserId
  /** How many have ended. */
  readonly ended: number
}

/** Selects a page of people. */
export interface PeopleQuery {
  /** Whether people with the latest logins or with the most sessions come first. */
  readonly sort: 'recent' | 'most'
  /** Maximum number of people: 1 or more. */
  readonly limit: number
  /** The `next` value of the previous page. @default from the start */
  readonly cursor?: string | undefined
}

/** A page of people. */
export interface PeoplePage {
  /** The people, in order. */
  readonly people: readonly IndexedPerson[]
  /** Cursor of the next page. Undefined on the last one. */
  readonly next?: string
}

/** How many people have each number of live sessions. Numbers that nobody has are left out. */
export type PeopleCounts = ReadonlyMap<number, number>

/** Counts people by their numbers of sessions. */
export function countBySessions(numbers: Iterable<number>): PeopleCounts {
  const counts = new Map<number, number>()
  for (const sessions of numbers) counts.set(sessions, (counts.get(sessions) ?? 0) + 1)
  return counts
}

/** Adds up how many people there are with at least a number of sessions, and how many sessions they have. */
export function totalOf(counts: PeopleCounts, atLeast = 0): { readonly people: number; readonly sessions: number } {
  const some = [...counts].filter(([live]) => live >= atLeast)
  return {
    people: some.reduce((sum, [, people]) => sum + people, 0),
    sessions: some.reduce((sum, [live, people]) => sum + live * people, 0),
  }
}

/**
 * Lists the people who are signed in, for the admin screen.
 *
 * It is only informational: no login reads it, and each entry is checked against the session registry before it is
 * shown. Every method rejects with `store_unavailable` if the store cannot be reached.
 */
export interface PeopleIndex {
  /** How long to collect changes, in milliseconds, before they are noted together. @default 100 */
  readonly collectMs?: number
  /** Records changes, at most one per person. Each is atomic. */
  note(changes: readonly PersonChange[]): Promise<void>
  /**
   * Lists people. Someone whose entry changes between two pages may be missing or listed twice.
   *
   * @throws SessmgrError `invalid_option` for an invalid cursor.
   */
  page(query: PeopleQuery): Promise<PeoplePage>
  /** Counts the people by their number of live sessions. */
  count(): Promise<PeopleCounts>
  /** Removes the people whose last login was before a time, for example after a site-wide logout. */
  clear(before: number): Promise<void>
}
