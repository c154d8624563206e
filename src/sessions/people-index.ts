import type { UserId } from '../ground/user-id.ts'

/** How many people an index keeps. Beyond that, it drops those whose last login is oldest. */
export const MOST_PEOPLE = 100_000

/** A person who has signed in, as the index knows them. */
export interface IndexedPerson {
  /** As it was noted: 2 and '2' are two people. */
  readonly userId: UserId
  /** Time of the last login in milliseconds, by the clock of the store. */
  readonly at: number
  /** How many live sessions the person has; too many if some have expired since. */
  readonly live: number
}

/**
 * A change to a person's sessions. An {@link IndexedPerson} has the number after a login, or after counting: it is
 * ignored if a later login has been noted, and 0 removes the person.
 */
export type PersonChange = IndexedPerson | SessionsAdded | SessionsEnded

/** A person has more sessions than before. */
export interface SessionsAdded {
  /** As in {@link IndexedPerson}. */
  readonly userId: UserId
  /** When they were registered. */
  readonly at: number
  /** How many there are. */
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
  /** Whether the latest logins come first, or those with the most sessions. */
  readonly sort: 'recent' | 'most'
  /** Maximum number of people: 1 or more. */
  readonly limit: number
  /** `next` of the previous page. @default from the start */
  readonly cursor?: string | undefined
}

/** A page of people. */
export interface PeoplePage {
  /** The people, in order. */
  readonly people: readonly IndexedPerson[]
  /** Cursor of the next page. Undefined on the last one. */
  readonly next?: string
}

/** How many people the index knows. */
export interface PeopleCount {
  /** The people. */
  readonly people: number
  /** The live sessions of all of them. */
  readonly sessions: number
  /** The people with at least as many sessions as asked for. */
  readonly atLeast?: number
}

/**
 * Lists the people who are signed in, for the admin screen.
 *
 * It only informs: no login reads it, and each entry is checked against the session registry before it is shown.
 * Every method rejects with `store_unavailable` if the store cannot be reached.
 */
export interface PeopleIndex {
  /** How many milliseconds to collect changes before they are noted together. @default 100 */
  readonly collectMs?: number
  /** Notes changes. Each is atomic; there is at most one per person. */
  note(changes: readonly PersonChange[]): Promise<void>
  /**
   * Lists people. Someone who signs in between two pages may be missing or listed twice; nobody else is.
   *
   * @throws SessmgrError `invalid_option` for a cursor from elsewhere.
   */
  page(query: PeopleQuery): Promise<PeoplePage>
  /** Counts everybody, and the people with at least `atLeast` sessions. */
  count(query?: { readonly atLeast?: number | undefined }): Promise<PeopleCount>
  /** Removes the people whose last login was before a time, as a site-wide logout does. */
  clear(before: number): Promise<void>
}
