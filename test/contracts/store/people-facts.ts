import { expect } from 'vitest'
import type { UserId } from '../../../src/ground/user-id.ts'
import type { IndexedPerson, PeopleIndex, PeopleQuery } from '../../../src/sessions/people-index.ts'

const person = (userId: UserId, at: number, live: number): IndexedPerson => ({ userId, at, live })

/** Reads all pages. */
async function pagesOf(people: PeopleIndex, sort: PeopleQuery['sort'], limit = 100) {
  const pages: (readonly IndexedPerson[])[] = []
  let cursor: string | undefined
  do {
    const page = await people.page({ sort, limit, cursor })
    pages.push(page.people)
    cursor = page.next
    expect(pages.length, 'the pages do not end').toBeLessThanOrEqual(100)
  } while (cursor !== undefined)
  return pages
}

const all = async (people: PeopleIndex, sort: PeopleQuery['sort'] = 'most') => (await pagesOf(people, sort)).flat()

type Fact = (people: PeopleIndex, other: PeopleIndex) => Promise<void>

/** What every index of people does, each on an empty index that two processes have opened. */
export const PEOPLE_FACTS: Readonly<Record<string, Fact>> = {
  async 'is empty at first'(people) {
    expect(await people.page({ sort: 'recent', limit: 10 })).toEqual({ people: [] })
    expect(await people.count()).toEqual(new Map())
    await people.note([])
    await people.clear(Number.MAX_SAFE_INTEGER)
  },
  async 'lists people by their last login and by their sessions, in every process'(people, other) {
    await people.note([person('a', 1000, 1), person('b', 3000, 5)])
    await other.note([person('c', 2000, 2)])
    for (const sort of ['recent', 'most'] as const) {
      const page = { people: [person('b', 3000, 5), person('c', 2000, 2), person('a', 1000, 1)] }
      expect(await people.page({ sort, limit: 3 })).toEqual(page)
    }
    await other.note([person('a', 4000, 9)])
    expect((await all(people, 'recent')).map(({ userId }) => userId)).toEqual(['a', 'b', 'c'])
    await people.note([person('d', 1000, 2)])
    expect(await other.count()).toEqual(
      new Map([
        [9, 1],
        [5, 1],
        [2, 2],
      ]),
    )
  },
  async 'keeps the type and the characters of an id'(people) {
    const ids = [2, '2', '__proto__', 'ünï "x" {y}:*', -1]
    await people.note(ids.map((userId, index) => person(userId, 1000 - index, 1)))
    expect((await all(people, 'recent')).map(({ userId }) => userId)).toEqual(ids)
  },
  async 'adds and subtracts sessions, removes a person without any, and ignores an old count'(people) {
    await people.note([person('a', 1000, 3), person('b', 1001, 1), person('c', 2000, 2)])
    await people.note([
      { userId: 'a', ended: 2 },
      { userId: 'b', ended: 1 },
      { userId: 'unknown', ended: 1 },
      { userId: 'a', at: 900, added: 2 },
      { userId: 'new', at: 800, added: 1 },
      person('c', 1999, 0),
    ])
    expect(await all(people)).toEqual([person('a', 1000, 3), person('c', 2000, 2), person('new', 800, 1)])
    await people.note([{ userId: 'a', ended: 9 }, person('c', 2000, 1), person('new', 800, 0)])
    expect(await all(people)).toEqual([person('c', 2000, 1)])
    expect(await people.count()).toEqual(new Map([[1, 1]]))
  },
  async 'lists everybody exactly once, page by page, though many have the same number'(people) {
    await people.note(Array.from({ length: 25 }, (_, n) => person(`user ${n}`, 1000 + (n % 3), 1 + (n % 2))))
    for (const sort of ['recent', 'most'] as const) {
      const pages = await pagesOf(people, sort, 4)
      expect(pages.map(({ length }) => length)).toEqual([4, 4, 4, 4, 4, 4, 1])
      expect(new Set(pages.flat().map(({ userId }) => userId)).size).toBe(25)
      const numbers = pages.flat().map(({ at, live }) => (sort === 'recent' ? at : live))
      expect(numbers).toEqual(numbers.toSorted((a, b) => b - a))
    }
  },
  async 'continues after people who have left since, and refuses a foreign cursor'(people) {
    await people.note(Array.from({ length: 9 }, (_, index) => person(index, 1000, 1)))
    const seen: UserId[] = []
    let cursor: string | undefined
    do {
      const page = await people.page({ sort: 'most', limit: 2, cursor })
      seen.push(...page.people.map(({ userId }) => userId))
      await people.note(page.people.map(({ userId, at }) => person(userId, at, 0)))
      cursor = page.next
    } while (cursor !== undefined)
    expect(seen.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    for (const foreign of ['', 'x', '1', '1.', '1.ä', `${'9'.repeat(40)}.YQ`]) {
      const asking = people.page({ sort: 'recent', limit: 1, cursor: foreign })
      await expect(asking, foreign).rejects.toMatchObject({ code: 'invalid_option' })
    }
  },
  async 'clears people by the time of their last login'(people, other) {
    await people.note([person('a', 1000, 3), person('b', 2000, 1), person('c', 3000, 2)])
    // More people than a store changes in one call.
    await people.note(Array.from({ length: 450 }, (_, index) => person(index, index, 1)))
    await other.clear(2000)
    expect(await all(people, 'recent')).toEqual([person('c', 3000, 2), person('b', 2000, 1)])
    expect(await people.count()).toEqual(
      new Map([
        [2, 1],
        [1, 1],
      ]),
    )
  },
}
