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

/** Counts of the people in the index. */
export interface PeopleCount {
  /** Number of people. */
  readonly people: number
  /** Number of their live sessions. */
  readonly sessions: number
  /** Number of people with at least the requested number of sessions. */
  readonly atLeast?: number
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
  /** Counts all people, and those with at least `atLeast` sessions. */
  count(query?: { readonly atLeast?: number | undefined }): Promise<PeopleCount>
  /** Removes the people whose last login was before a time, for example after a site-wide logout. */
  clear(before: number): Promise<void>
}
