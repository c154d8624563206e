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
import { countPeople, peoplePage, personAfter } from '../people-page.ts'
import { type DocumentRows, type ReadRow, type RowChange, rowKey } from './document-rows.ts'

/** Few, so that the logins of two seconds share their writes, but enough that no row becomes long. */
const ROWS = 16
const MOST_PER_ROW = Math.ceil(MOST_PEOPLE / ROWS)
const KEYS = Array.from({ length: ROWS }, (_, index) => rowKey('index', String(index)))

const AT_ONCE = 4

type ChangePeople = (people: readonly IndexedPerson[], key: string) => readonly IndexedPerson[]

/** As stored. */
type Entry = readonly [userId: UserId, at: number, live: number]

/** An index of people in a database, spread over 16 rows. */
export class DocumentPeopleIndex implements PeopleIndex {
  // A row is written as a whole, so many logins should share a write.
  readonly collectMs = 2000
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
    await this.#rewrite([...byRow.keys()], (people, key) => afterChanges(people, byRow.get(key) ?? []))
  }

  async page(query: PeopleQuery): Promise<PeoplePage> {
    return peoplePage(await this.#all(), query)
  }

  async count({ atLeast }: { readonly atLeast?: number | undefined } = {}): Promise<PeopleCount> {
    return countPeople(await this.#all(), atLeast)
  }

  async clear(before: number): Promise<void> {
    await this.#rewrite(KEYS, (people) => people.filter(({ at }) => at >= before))
  }

  /** Reads the rows together, but writes few at a time: logins need the connections more. */
  async #rewrite(keys: readonly string[], change: ChangePeople): Promise<void> {
    const rows = await Promise.all(keys.map(async (key) => ({ key, row: await this.#rows.read(key) })))
    for (let first = 0; first < rows.length; first += AT_ONCE) {
      const some = rows.slice(first, first + AT_ONCE)
      await Promise.all(
        some.map(({ key, row }) => {
          const step = ({ text }: ReadRow) => rewritten(text, (people) => change(people, key))
          return step(row).write && this.#rows.change(key, step, row)
        }),
      )
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
