import { invalidOption } from '../ground/invalid-option.ts'
import {
  countBySessions,
  type IndexedPerson,
  type PeopleCounts,
  type PeoplePage,
  type PeopleQuery,
  type PersonChange,
} from '../sessions/people-index.ts'

/** How many people beyond the page are collected before the list is sorted and cut. */
const BATCH = 2000

/** A person's place in the order: by number, then by key, both descending. */
interface PersonPlace {
  /** The time of the last login, or the number of sessions. */
  readonly number: number
  /** The user id as JSON. */
  readonly key: string
}

function placeOf({ userId, at, live }: IndexedPerson, sort: PeopleQuery['sort']): PersonPlace {
  return { number: sort === 'recent' ? at : live, key: JSON.stringify(userId) }
}

/**
 * Returns the first page of `found`, which must be sorted and include the first person of the next page, if any.
 */
export function pageOf(found: readonly IndexedPerson[], { sort, limit }: PeopleQuery): PeoplePage {
  const people = found.slice(0, limit)
  const last = people.at(-1)
  if (!last || found.length === people.length) return { people }
  const { number, key } = placeOf(last, sort)
  return { people, next: `${number}.${Buffer.from(key).toString('base64url')}` }
}

/**
 * Parses a cursor, and returns the place of the last person before the page.
 *
 * @throws SessmgrError `invalid_option` for anything that is not a cursor.
 */
export function placeFrom(cursor: string): PersonPlace {
  const [, number, key] = /^(\d{1,16})\.([\w-]+)$/.exec(cursor) ?? []
  if (number === undefined || key === undefined) throw invalidOption('"cursor" must be the "next" of a page')
  return { number: Number(number), key: Buffer.from(key, 'base64url').toString() }
}

/** Returns a page of `all` without sorting the whole list. */
export function peoplePage(all: readonly IndexedPerson[], query: PeopleQuery): PeoplePage {
  const { sort, limit, cursor } = query
  const after = cursor === undefined ? undefined : placeFrom(cursor)
  let kept: Candidate[] = []
  let last: Candidate | undefined
  const trim = () => {
    // One person beyond the page shows whether another page follows.
    kept = kept.sort(inOrder).slice(0, limit + 1)
    last = kept[limit]
  }
  for (const person of all) {
    const candidate = { person, ...placeOf(person, sort) }
    if ((after && inOrder(after, candidate) >= 0) || (last && inOrder(last, candidate) < 0)) continue
    kept.push(candidate)
    if (kept.length > limit + BATCH) trim()
  }
  trim()
  const found = kept.map(({ person }) => person)
  return pageOf(found, query)
}

/** Counts people by their number of live sessions. */
export function countPeople(all: readonly IndexedPerson[]): PeopleCounts {
  return countBySessions(all.map(({ live }) => live))
}

interface Candidate extends PersonPlace {
  readonly person: IndexedPerson
}

function inOrder(a: PersonPlace, b: PersonPlace): number {
  if (a.number !== b.number) return b.number - a.number
  if (a.key === b.key) return 0
  return a.key < b.key ? 1 : -1
}

/** Returns a person's entry after a change, or undefined if the change removes the entry. */
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
