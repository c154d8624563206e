import {
  type IndexedPerson,
  MOST_PEOPLE,
  type PeopleCounts,
  type PeopleIndex,
  type PeoplePage,
  type PeopleQuery,
  type PersonChange,
} from '../../sessions/people-index.ts'
import { pageOf, placeFrom } from '../people-page.ts'
import countLua from './lua/people/count.lua'
import noteLua from './lua/people/note.lua'
import pageLua from './lua/people/page.lua'
import { type RedisCalls, redisScript } from './redis-calls.ts'

/** Keys of the index, all in one cluster slot. */
interface PeopleKeys {
  readonly recent: string
  readonly most: string
}

const NOTE_PEOPLE = redisScript(noteLua)
const PAGE_OF_PEOPLE = redisScript(pageLua)
const COUNT_PEOPLE = redisScript(countLua)

/** How many people one script call may change, so that it does not delay other commands. */
const BATCH = 200

/** An index of people in Redis: two sorted sets in one slot. */
export class RedisPeopleIndex implements PeopleIndex {
  readonly #calls: RedisCalls
  readonly #keys: PeopleKeys

  constructor(calls: RedisCalls, prefix: string) {
    this.#calls = calls
    this.#keys = { recent: `${prefix}{people}:recent`, most: `${prefix}{people}:most` }
  }

  async note(changes: readonly PersonChange[]): Promise<void> {
    const { recent, most } = this.#keys
    for (let first = 0; first < changes.length; first += BATCH) {
      const args = changes.slice(first, first + BATCH).flatMap(argumentsOf)
      await this.#calls.run(NOTE_PEOPLE, [recent, most], [MOST_PEOPLE, ...args])
    }
  }

  async page(query: PeopleQuery): Promise<PeoplePage> {
    const { sort, limit, cursor } = query
    const { recent, most } = this.#keys
    const keys = sort === 'recent' ? [recent, most] : [most, recent]
    const after = cursor === undefined ? undefined : placeFrom(cursor)
    // One person beyond the page shows whether another page follows.
    const args = [limit + 1, ...(after ? [-after.number, after.key] : [])]
    return pageOf(readPeople((await this.#calls.run(PAGE_OF_PEOPLE, keys, args)) as string[], sort), query)
  }

  async count(): Promise<PeopleCounts> {
    const reply = (await this.#calls.run(COUNT_PEOPLE, [this.#keys.most], [])) as unknown[]
    const counts = new Map<number, number>()
    for (let first = 0; first < reply.length; first += 2) counts.set(-Number(reply[first]), Number(reply[first + 1]))
    return counts
  }

  async clear(before: number): Promise<void> {
    const { recent, most } = this.#keys
    let people: readonly IndexedPerson[]
    do {
      // An empty id comes before all others, so the page begins with those whose last login was 1 ms before.
      const page = await this.#calls.run(PAGE_OF_PEOPLE, [recent, most], [BATCH, 1 - before, ''])
      people = readPeople(page as string[], 'recent')
      // Someone who has signed in again since stays.
      await this.note(people.map((person) => ({ ...person, live: 0 })))
    } while (people.length === BATCH)
  }
}

function argumentsOf(change: PersonChange): readonly (string | number)[] {
  const id = JSON.stringify(change.userId)
  if ('live' in change) return [id, 'live', change.at, change.live]
  return 'added' in change ? [id, 'added', change.at, change.added] : [id, 'ended', 0, change.ended]
}

function readPeople(reply: readonly string[], sort: PeopleQuery['sort']): IndexedPerson[] {
  const people: IndexedPerson[] = []
  for (let first = 0; first < reply.length; first += 3) {
    const [id = '', one, other] = reply.slice(first, first + 3)
    const [at, live] = sort === 'recent' ? [one, other] : [other, one]
    people.push({ userId: JSON.parse(id), at: Math.abs(Number(at)), live: Math.abs(Number(live)) })
  }
  return people
}
