import { hash } from 'node:crypto'
import type { ApplicationPasswordStore, StoredPassword } from '../../auth/application-passwords.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { OptionStore, StoredOption } from '../../options/option-store.ts'
import type { TransientStore } from '../../options/transient-store.ts'
import {
  type IndexedPerson,
  MOST_PEOPLE,
  type PeopleCounts,
  type PeopleIndex,
  type PeoplePage,
  type PeopleQuery,
  type PersonChange,
} from '../../sessions/people-index.ts'
import { type Epoch, FIRST_EPOCH, type SessionStamp } from '../../sessions/session-record.ts'
import { type LogoutEpoch, nextLogout, type SiteLogout } from '../../sessions/session-registry.ts'
import { countPeople, peoplePage, personAfter } from '../people-page.ts'
import { type DocumentRows, type ReadRow, rowKey } from './document-rows.ts'
import type { RowChange } from './row-turns.ts'

/** Stores options in a database, with one row per option. */
export class DocumentOptionStore implements OptionStore {
  readonly #rows: DocumentRows

  constructor(rows: DocumentRows) {
    this.#rows = rows
  }

  async get(name: string): Promise<StoredOption | undefined> {
    const { text, revision } = await this.#rows.read(rowKey('option', name))
    return text === undefined || revision === undefined ? undefined : { value: JSON.parse(text), revision }
  }

  async set(name: string, value: unknown): Promise<void> {
    const text = JSON.stringify(value)
    await this.#rows.change(rowKey('option', name), () => ({ result: undefined, write: { text } }))
  }

  swap(name: string, revision: string | undefined, value: unknown): Promise<boolean> {
    const text = JSON.stringify(value)
    return this.#rows.change(rowKey('option', name), (row) => {
      const present = row.text === undefined ? undefined : row.revision
      return present === revision ? { result: true, write: { text } } : { result: false }
    })
  }

  async delete(name: string): Promise<void> {
    await this.#rows.change(rowKey('option', name), ({ text }) =>
      text === undefined ? { result: undefined } : { result: undefined, write: { text: undefined } },
    )
  }
}

/** Stores application passwords in a database, with one row per user. */
export class DocumentPasswordStore implements ApplicationPasswordStore {
  readonly #rows: DocumentRows

  constructor(rows: DocumentRows) {
    this.#rows = rows
  }

  async add(userId: UserId, password: StoredPassword): Promise<void> {
    const { id, name, hash, createdAt } = password
    await this.#rows.change(passwordsKey(userId), ({ text }) => {
      const others = passwordsIn(text).filter((it) => it.id !== id)
      return { result: undefined, write: { text: JSON.stringify([...others, { id, name, hash, createdAt }]) } }
    })
  }

  async list(userId: UserId): Promise<readonly StoredPassword[]> {
    const { text } = await this.#rows.read(passwordsKey(userId))
    return passwordsIn(text).toSorted((a, b) => a.createdAt - b.createdAt)
  }

  async has(userId: UserId, hash: string): Promise<boolean> {
    const { text = '' } = await this.#rows.read(passwordsKey(userId))
    // Search the raw string: the time to parse it would depend on the number of passwords.
    return text.includes(`"hash":${JSON.stringify(hash)}`)
  }

  remove(userId: UserId, id: string): Promise<boolean> {
    return this.#rows.change(passwordsKey(userId), ({ text }) => {
      const present = passwordsIn(text)
      const left = present.filter((it) => it.id !== id)
      if (left.length === present.length) return { result: false }
      return { result: true, write: { text: left.length > 0 ? JSON.stringify(left) : undefined } }
    })
  }

  async erase(userId: UserId): Promise<void> {
    await this.#rows.change(passwordsKey(userId), ({ text }) => ({
      result: undefined,
      write: text === undefined ? undefined : { text: undefined },
    }))
  }
}

function passwordsIn(text = '[]'): readonly StoredPassword[] {
  return JSON.parse(text)
}

function passwordsKey(userId: UserId): string {
  return rowKey('passwords', String(userId))
}

/** A missing row. Most strings are new, so the first attempt assumes this instead of reading the row. */
const NEW: ReadRow = { at: 0, now: 0, revision: undefined, text: undefined }

/** A transient store in a database, with one row per string. */
export class DocumentTransientStore implements TransientStore {
  readonly #rows: DocumentRows

  constructor(rows: DocumentRows) {
    this.#rows = rows
  }

  async get(key: string): Promise<string | undefined> {
    const { text } = await this.#rows.read(rowKey('transient', key))
    return text === undefined ? undefined : JSON.parse(text)
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    // Stored as JSON, because an empty text would mark the row as deleted.
    const write = { text: JSON.stringify(value), lifeMs: ttlMs }
    await this.#rows.change(rowKey('transient', key), () => ({ result: undefined, write }), NEW)
  }

  async take(key: string): Promise<string | undefined> {
    const text = await this.#rows.change(rowKey('transient', key), (row) => ({
      result: row.text,
      write: row.text === undefined ? undefined : { text: undefined },
    }))
    return text === undefined ? undefined : JSON.parse(text)
  }

  async generation(group: string): Promise<number> {
    return this.#countIn(group, await this.#rows.read(rowKey('generation', group)))
  }

  advance(group: string): Promise<number> {
    return this.#rows.change(rowKey('generation', group), (row) => {
      const count = this.#countIn(group, row) + 1
      return { result: count, write: { text: String(count) } }
    })
  }

  #countIn(group: string, { revision, text = '' }: ReadRow): number {
    if (revision === undefined) return 0
    if (/^\d{1,15}$/.test(text)) return Number(text)
    throw damaged(this.#rows, rowKey('generation', group))
  }
}

/** Returns the error for a row without its number. Guessing one could make ended sessions valid again. */
function damaged(rows: DocumentRows, key: string): SessmgrError {
  const problem = `The row ${rows.nameOf(key)} is damaged: it is not a whole number`
  const cure = `Set it to a whole number larger than it has ever been, such as ${Date.now()}`
  return new SessmgrError('store_unavailable', `${problem}. ${cure}.`)
}

/** Key of the row that contains the epoch. */
export const EPOCH_KEY = 'epoch'
const EPOCH = /^(\d{1,15})(?: ([0-9a-f]{64}))?$/

/** Stores the epoch in a database: one row, however many sessions there are. */
export class DocumentLogoutEpoch implements LogoutEpoch {
  readonly #rows: DocumentRows
  #text: string | undefined
  #epoch = FIRST_EPOCH

  constructor(rows: DocumentRows) {
    this.#rows = rows
  }

  async current(): Promise<Epoch> {
    return this.epochIn(await this.#rows.read(EPOCH_KEY))
  }

  /** Returns the epoch that a row contains. Throws for anything else, even an empty row. */
  epochIn({ revision, text = '' }: Pick<ReadRow, 'revision' | 'text'>): Epoch {
    if (revision === undefined) return FIRST_EPOCH
    // Every request reads the row, but it seldom changes.
    if (text === this.#text) return this.#epoch
    const [, generation, keeps] = EPOCH.exec(text) ?? []
    if (generation === undefined) throw damaged(this.#rows, EPOCH_KEY)
    this.#epoch = { generation: Number(generation), keeps }
    this.#text = text
    return this.#epoch
  }

  advance(keep?: SessionStamp): Promise<SiteLogout | undefined> {
    return this.#rows.change(EPOCH_KEY, (row) => {
      const result = nextLogout(this.epochIn(row), row.now, keep)
      if (!result) return { result }
      const { generation, keeps } = result
      return { result, write: { text: keeps ? `${generation} ${keeps}` : String(generation), durably: true } }
    })
  }
}

/** Number of rows: few enough that the logins of two seconds share their writes, but enough to keep rows short. */
const PEOPLE_ROWS = 16
const MOST_PER_ROW = Math.ceil(MOST_PEOPLE / PEOPLE_ROWS)
const PEOPLE_KEYS = Array.from({ length: PEOPLE_ROWS }, (_, index) => rowKey('index', String(index)))

/** How many rows are written at once. */
const AT_ONCE = 4

type ChangePeople = (people: readonly IndexedPerson[], key: string) => readonly IndexedPerson[]

/** A person as stored. */
type PersonEntry = readonly [userId: UserId, at: number, live: number]

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
      const key = peopleKey(change.userId)
      byRow.set(key, [...(byRow.get(key) ?? []), change])
    }
    await this.#rewrite([...byRow.keys()], (people, key) => afterChanges(people, byRow.get(key) ?? []))
  }

  async page(query: PeopleQuery): Promise<PeoplePage> {
    return peoplePage(await this.#all(), query)
  }

  async count(): Promise<PeopleCounts> {
    return countPeople(await this.#all())
  }

  async clear(before: number): Promise<void> {
    await this.#rewrite(PEOPLE_KEYS, (people) => people.filter(({ at }) => at >= before))
  }

  /** Rewrites rows. Reads all at once, but writes only a few at a time, because logins need the connections more. */
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
    const rows = await Promise.all(PEOPLE_KEYS.map((key) => this.#rows.read(key)))
    return rows.flatMap(({ text }) => peopleIn(text))
  }
}

function peopleKey(userId: UserId): string {
  return PEOPLE_KEYS[Number.parseInt(hash('sha256', JSON.stringify(userId)).slice(0, 4), 16) % PEOPLE_ROWS] as string
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
  const entries = change(peopleIn(text)).map(({ userId, at, live }): PersonEntry => [userId, at, live])
  const next = entries.length === 0 ? undefined : JSON.stringify(entries)
  return next === text ? { result: undefined } : { result: undefined, write: { text: next } }
}

function peopleIn(text = '[]'): readonly IndexedPerson[] {
  return (JSON.parse(text) as readonly PersonEntry[]).map(([userId, at, live]) => ({ userId, at, live }))
}
