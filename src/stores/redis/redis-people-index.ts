import {
  type IndexedPerson,
  MOST_PEOPLE,
  type PeopleCount,
  type PeopleIndex,
  type PeoplePage,
  type PeopleQuery,
  type PersonChange,
} from '../../sessions/people-index.ts'
import { pageOf, placeFrom } from '../people-page.ts'
import type { Keys } from './keys.ts'
import clearLua from './lua/people/clear.lua'
import countLua from './lua/people/count.lua'
import noteLua from './lua/people/note.lua'
import pageLua from './lua/people/page.lua'
import type { RedisCalls } from './redis-calls.ts'
import { redisScript } from './redis-script.ts'

const NOTE = redisScript(noteLua)
const PAGE = redisScript(pageLua)
const COUNT = redisScript(countLua)
const CLEAR = redisScript(clearLua)

/** How many people one script changes at most, so that it does not delay other commands. */
const BATCH = 200

/** An index of people in Redis: two sorted sets and a sum, in one slot. */
export class RedisPeopleIndex implements PeopleIndex {
  readonly #calls: RedisCalls
  readonly #keys: Keys['people']

  constructor(calls: RedisCalls, keys: Keys['people']) {
    this.#calls = calls
    this.#keys = keys
  }

  async note(changes: readonly PersonChange[]): Promise<void> {
    const { recent, most, sum } = this.#keys
    for (let first = 0; first < changes.length; first += BATCH) {
      const args = changes.slice(first, first + BATCH).flatMap(argumentsOf)
      await this.#calls.run(NOTE, [recent, most, sum], [MOST_PEOPLE, ...args])
    }
  }

  async page(query: PeopleQuery): Promise<PeoplePage> {
    const { sort, limit, cursor } = query
    const { recent, most } = this.#keys
    const keys = sort === 'recent' ? [recent, most] : [most, recent]
    const after = cursor === undefined ? undefined : placeFrom(cursor)
    // One more than the page shows whether there is another.
    const args = [limit + 1, ...(after ? [-after.number, after.key] : [])]
    return pageOf(readPeople((await this.#calls.run(PAGE, keys, args)) as string[], sort), query)
  }

  async count({ atLeast }: { readonly atLeast?: number | undefined } = {}): Promise<PeopleCount> {
    const { most, sum } = this.#keys
    const reply = (await this.#calls.run(COUNT, [most, sum], [atLeast ?? 1])) as unknown[]
    const [people = 0, sessions = 0, some = 0] = reply.map(Number)
    return { people, sessions, ...(atLeast !== undefined && { atLeast: some }) }
  }

  async clear(before: number): Promise<void> {
    const { recent, most, sum } = this.#keys
    let removed: number
    do {
      removed = Number(await this.#calls.run(CLEAR, [recent, most, sum], [before, BATCH]))
    } while (removed === BATCH)
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
