import assert from 'node:assert/strict'
import type { UserId } from '../../../ground/user-id.ts'
import type { IndexedPerson, PeopleIndex, PeopleQuery } from '../../../sessions/people-index.ts'
import type { StoreCase } from '../store-case.ts'

/** A case of the index, which is optional: without it, only the people of the admin screen are missing. */
function peopleCase(name: string, body: (people: PeopleIndex, other: PeopleIndex) => Promise<void>): StoreCase {
  return [
    name,
    async ({ store, another }) => {
      if (!store.people) return
      const other = (await another()).people
      assert.ok(other, 'another() has no index of people')
      await body(store.people, other)
    },
  ]
}

const person = (userId: UserId, at: number, live: number): IndexedPerson => ({ userId, at, live })

/** Reads all pages. */
async function pagesOf(people: PeopleIndex, sort: PeopleQuery['sort'], limit = 100) {
  const pages: (readonly IndexedPerson[])[] = []
  let cursor: string | undefined
  do {
    const page = await people.page({ sort, limit, cursor })
    pages.push(page.people)
    cursor = page.next
    assert.ok(pages.length <= 100, 'the pages do not end')
  } while (cursor !== undefined)
  return pages
}

const idsOf = async (people: PeopleIndex, sort: PeopleQuery['sort'] = 'recent') =>
  (await pagesOf(people, sort)).flat().map(({ userId }) => userId)

/** Requirements on the index of people. */
export const peopleContract: readonly StoreCase[] = [
  peopleCase('is empty at first', async (people) => {
    assert.deepEqual(await people.page({ sort: 'recent', limit: 10 }), { people: [] })
    assert.deepEqual(await people.count(), { people: 0, sessions: 0 })
    assert.deepEqual(await people.count({ atLeast: 2 }), { people: 0, sessions: 0, atLeast: 0 })
    await people.note([])
    await people.clear(Number.MAX_SAFE_INTEGER)
  }),
  peopleCase('lists people by their last login and by their sessions, on every connection', async (people, other) => {
    await people.note([person('a', 1000, 1), person('b', 3000, 5)])
    await other.note([person('c', 2000, 2)])
    const [a, b, c] = [person('a', 1000, 1), person('b', 3000, 5), person('c', 2000, 2)]
    assert.deepEqual(await other.page({ sort: 'recent', limit: 3 }), { people: [b, c, a] })
    assert.deepEqual(await people.page({ sort: 'most', limit: 3 }), { people: [b, c, a] })
    await other.note([person('a', 4000, 9)])
    assert.deepEqual(await idsOf(people), ['a', 'b', 'c'])
    assert.deepEqual(await idsOf(people, 'most'), ['a', 'b', 'c'])
    assert.deepEqual(await people.count({ atLeast: 5 }), { people: 3, sessions: 16, atLeast: 2 })
    assert.deepEqual(await people.count(), { people: 3, sessions: 16 })
  }),
  peopleCase('keeps the type and the characters of an id', async (people) => {
    const ids = [2, '2', '__proto__', 'ünï "x" {y}:*', -1]
    await people.note(ids.map((userId, index) => person(userId, 1000 - index, 1)))
    assert.deepEqual(await idsOf(people), ids)
  }),
  peopleCase('adds and subtracts sessions, and removes a person without any', async (people) => {
    await people.note([person('a', 1000, 3), person('b', 1001, 1)])
    await people.note([
      { userId: 'a', ended: 2 },
      { userId: 'b', ended: 1 },
      { userId: 'unknown', ended: 1 },
    ])
    assert.deepEqual((await pagesOf(people, 'most')).flat(), [person('a', 1000, 1)])
    await people.note([
      { userId: 'a', at: 900, added: 2 },
      { userId: 'new', at: 800, added: 1 },
    ])
    assert.deepEqual((await pagesOf(people, 'most')).flat(), [person('a', 1000, 3), person('new', 800, 1)])
    await people.note([{ userId: 'a', ended: 9 }])
    assert.deepEqual(await people.count(), { people: 1, sessions: 1 })
  }),
  peopleCase('ignores a number from before the last login', async (people) => {
    await people.note([person('a', 2000, 2), person('b', 2000, 2), person('c', 2000, 2)])
    await people.note([person('a', 1999, 0), person('b', 2000, 0), person('c', 2000, 1)])
    assert.deepEqual((await pagesOf(people, 'most')).flat(), [person('a', 2000, 2), person('c', 2000, 1)])
    assert.deepEqual(await people.count(), { people: 2, sessions: 3 })
  }),
  peopleCase('lists everybody exactly once, page by page, though many have the same number', async (people) => {
    const all = Array.from({ length: 25 }, (_, index) => person(`user ${index}`, 1000 + (index % 3), 1 + (index % 2)))
    await people.note(all)
    for (const sort of ['recent', 'most'] as const) {
      const pages = await pagesOf(people, sort, 4)
      const found = pages.flat()
      assert.deepEqual(
        pages.map(({ length }) => length),
        [4, 4, 4, 4, 4, 4, 1],
      )
      assert.equal(new Set(found.map(({ userId }) => userId)).size, 25)
      const numbers = found.map(({ at, live }) => (sort === 'recent' ? at : live))
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => b - a),
      )
    }
  }),
  peopleCase('continues after people who have gone since', async (people) => {
    await people.note(Array.from({ length: 9 }, (_, index) => person(index, 1000, 1)))
    const seen: UserId[] = []
    let cursor: string | undefined
    do {
      const page = await people.page({ sort: 'most', limit: 2, cursor })
      seen.push(...page.people.map(({ userId }) => userId))
      await people.note(page.people.map(({ userId, at }) => person(userId, at, 0)))
      cursor = page.next
    } while (cursor !== undefined)
    assert.deepEqual(seen.toSorted(), [0, 1, 2, 3, 4, 5, 6, 7, 8])
    assert.deepEqual(await people.count(), { people: 0, sessions: 0 })
  }),
  peopleCase('rejects a cursor from elsewhere', async (people) => {
    for (const cursor of ['', 'x', '1', '1.', '1.ä', `${'9'.repeat(40)}.YQ`]) {
      await assert.rejects(people.page({ sort: 'recent', limit: 1, cursor }), { code: 'invalid_option' })
    }
  }),
  peopleCase('clears those whose last login was before a time', async (people, other) => {
    await people.note([person('a', 1000, 3), person('b', 2000, 1), person('c', 3000, 2)])
    await other.clear(2000)
    assert.deepEqual(await idsOf(people), ['c', 'b'])
    assert.deepEqual(await people.count({ atLeast: 2 }), { people: 2, sessions: 3, atLeast: 1 })
  }),
  [
    'is empty after a wipe',
    async ({ store, another }) => {
      if (!store.people) return
      await store.people.note([person('a', 1000, 3)])
      const other = await another()
      await other.wipe()
      assert.deepEqual(await store.people.count({ atLeast: 1 }), { people: 0, sessions: 0, atLeast: 0 })
      assert.deepEqual(await store.people.page({ sort: 'most', limit: 1 }), { people: [] })
    },
  ],
]
