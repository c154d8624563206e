import { hash } from 'node:crypto'
import type { UserId } from '../../ground/user-id.ts'
import {
  type IndexedPerson,
  MOST_PEOPLE,
  type PeopleCount,
  type PeopleIndex,
  type PeoplePage,
  type PeopleQuery,
  type PersonChange,
} from '../../sessions/people-index.ts'
import { countPeople, peoplePage } from '../people/people-page.ts'
import { personAfter } from '../people/person-after.ts'
import type { DocumentRows, RowChange } from './document-rows.ts'
import { rowKey } from './row-key.ts'

/** Few enough to be read at once, and enough that two processes seldom write to the same row. */
const ROWS = 128
const MOST_PER_ROW = Math.ceil(MOST_PEOPLE / ROWS)
const KEYS = Array.from({ length: ROWS }, (_, index) => rowKey('index', String(index)))

/** As stored. */
type Entry = readonly [userId: UserId, at: number, live: number]

/** An index of people in a database, spread over 128 rows. */
export class DocumentPeopleIndex implements PeopleIndex {
  // A row is written as a whole, so many logins should share a write.
  readonly collectMs = 1000
  readonly #rows: DocumentRows

  constructor(rows: DocumentRows) {
    this.#rows = rows
  }

  async note(changes: readonly PersonChange[]): Promise<void> {
    const byRow = new Map<string, PersonChange[]>()
    for (const change of changes) {
      const key = keyOf(change.userId)
      byRow.set(key, [...(byRow.get(key) ?? []), change])
    }
    // Read together, but written one after the other: logins need the connections more.
    const keys = [...byRow.keys()]
    const known = await Promise.all(keys.map((key) => this.#rows.read(key)))
    for (const [index, key] of keys.entries()) {
      const apply = (people: readonly IndexedPerson[]) => afterChanges(people, byRow.get(key) ?? [])
      await this.#rows.change(key, ({ text }) => rewritten(text, apply), known[index])
    }
  }

  async page(query: PeopleQuery): Promise<PeoplePage> {
    return peoplePage(await this.#all(), query)
  }

  async count({ atLeast }: { readonly atLeast?: number | undefined } = {}): Promise<PeopleCount> {
    return countPeople(await this.#all(), atLeast)
  }

  async clear(before: number): Promise<void> {
    const keep = (people: readonly IndexedPerson[]) => people.filter(({ at }) => at >= before)
    const known = await Promise.all(KEYS.map((key) => this.#rows.read(key)))
    for (const [index, key] of KEYS.entries()) {
      if (known[index]?.text) await this.#rows.change(key, ({ text }) => rewritten(text, keep), known[index])
    }
  }

  async #all(): Promise<readonly IndexedPerson[]> {
    const rows = await Promise.all(KEYS.map((key) => this.#rows.read(key)))
    return rows.flatMap(({ text }) => parse(text))
  }
}

function keyOf(userId: UserId): string {
  return KEYS[Number.parseInt(hash('sha256', JSON.stringify(userId)).slice(0, 4), 16) % ROWS] as string
}

function afterChanges(people: readonly IndexedPerson[], changes: readonly PersonChange[]): readonly IndexedPerson[] {
  const known = new Map(people.map((person) => [person.userId, person]))
  for (const change of changes) {
    const after = personAfter(known.get(change.userId), change)
    if (after) known.set(change.userId, after)
    else known.delete(change.userId)
  }
  const all = [...known.values()]
  return all.length <= MOST_PER_ROW ? all : all.sort((a, b) => b.at - a.at).slice(0, MOST_PER_ROW)
}

function rewritten(
  text: string | undefined,
  change: (people: readonly IndexedPerson[]) => readonly IndexedPerson[],
): RowChange<void> {
  const entries = change(parse(text)).map(({ userId, at, live }): Entry => [userId, at, live])
  const next = entries.length === 0 ? undefined : JSON.stringify(entries)
  return next === text ? { result: undefined } : { result: undefined, write: { text: next } }
}

function parse(text = '[]'): readonly IndexedPerson[] {
  return (JSON.parse(text) as readonly Entry[]).map(([userId, at, live]) => ({ userId, at, live }))
}
