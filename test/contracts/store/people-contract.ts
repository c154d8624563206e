import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { UserId } from '../../../src/ground/user-id.ts'
import type { IndexedPerson, PeopleIndex, PeopleQuery } from '../../../src/sessions/people-index.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { openPending } from '../../../src/sessions/user-state.ts'
import type { StoreSignals } from '../../../src/stores/store.ts'
import { idsOf, LONG, login, newSession, type StoreCase } from './store-case.ts'

/** Creates a case about the index of people. */
function peopleCase(name: string, body: (people: PeopleIndex, other: PeopleIndex) => Promise<void>): StoreCase {
  return [name, async ({ store, another }) => body(store.people, (await another()).people)]
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

const peopleIdsOf = async (people: PeopleIndex, sort: PeopleQuery['sort'] = 'recent') =>
  (await pagesOf(people, sort)).flat().map(({ userId }) => userId)

/** The cases about the index of people. */
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
    assert.deepEqual(await peopleIdsOf(people), ['a', 'b', 'c'])
    assert.deepEqual(await peopleIdsOf(people, 'most'), ['a', 'b', 'c'])
    assert.deepEqual(await people.count({ atLeast: 5 }), { people: 3, sessions: 16, atLeast: 2 })
    assert.deepEqual(await people.count(), { people: 3, sessions: 16 })
  }),
  peopleCase('keeps the type and the characters of an id', async (people) => {
    const ids = [2, '2', '__proto__', 'ünï "x" {y}:*', -1]
    await people.note(ids.map((userId, index) => person(userId, 1000 - index, 1)))
    assert.deepEqual(await peopleIdsOf(people), ids)
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
  peopleCase('ignores a count from before the last login', async (people) => {
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
  peopleCase('continues after people who have left since', async (people) => {
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
  peopleCase('rejects a foreign cursor', async (people) => {
    for (const cursor of ['', 'x', '1', '1.', '1.ä', `${'9'.repeat(40)}.YQ`]) {
      await assert.rejects(people.page({ sort: 'recent', limit: 1, cursor }), { code: 'invalid_option' })
    }
  }),
  peopleCase('clears people by the time of their last login', async (people, other) => {
    await people.note([person('a', 1000, 3), person('b', 2000, 1), person('c', 3000, 2)])
    // More people than a store changes in one call.
    await people.note(Array.from({ length: 450 }, (_, index) => person(index, index, 1)))
    await other.clear(2000)
    assert.deepEqual(await peopleIdsOf(people), ['c', 'b'])
    assert.deepEqual(await people.count({ atLeast: 2 }), { people: 2, sessions: 3, atLeast: 1 })
  }),
  [
    'is empty after a wipe',
    async ({ store, another }) => {
      await store.people.note([person('a', 1000, 3)])
      const other = await another()
      await other.wipe()
      assert.deepEqual(await store.people.count({ atLeast: 1 }), { people: 0, sessions: 0, atLeast: 0 })
      assert.deepEqual(await store.people.page({ sort: 'most', limit: 1 }), { people: [] })
    },
  ],
]

const WAIT_MS = 30_000

/** Subscribes to messages, records them, and can wait for one. */
async function listen(signals: StoreSignals) {
  const heard: string[] = []
  const stop = await signals.subscribe({ heard: (message) => void heard.push(message), missed() {} })
  const hears = async (message: string) => {
    for (const end = Date.now() + WAIT_MS; !heard.includes(message); await sleep(5)) {
      assert.ok(Date.now() < end, `a message did not arrive within ${WAIT_MS} ms`)
    }
  }
  return { heard, stop, hears }
}

/** The cases about signals, which few databases have. */
export const signalsContract: readonly StoreCase[] = [
  [
    'passes messages to every subscriber, of this connection and of others',
    async ({ store, another }) => {
      const other = await another()
      if (!store.signals || !other.signals) return
      const listeners = [await listen(store.signals), await listen(store.signals), await listen(other.signals)]
      await store.signals.publish('from one')
      await other.signals.publish('from another')
      for (const { hears } of listeners) await Promise.all([hears('from one'), hears('from another')])
      for (const { stop } of listeners) await stop()
    },
  ],
  [
    'passes on messages of 7,000 characters',
    async ({ store }) => {
      if (!store.signals) return
      const { hears, stop } = await listen(store.signals)
      const message = 'a1 '.repeat(7000).slice(0, 7000)
      await store.signals.publish(message)
      await hears(message)
      await stop()
    },
  ],
  [
    'passes nothing to a subscriber that has stopped, and lets it stop twice',
    async ({ store }) => {
      if (!store.signals) return
      const [first, second] = [await listen(store.signals), await listen(store.signals)]
      await first.stop()
      await first.stop()
      await store.signals.publish('late')
      await second.hears('late')
      assert.deepEqual(first.heard, [])
      await second.stop()
    },
  ],
  [
    'publishes without any subscriber',
    async ({ store }) => {
      await store.signals?.publish('to nobody')
    },
  ],
]

const password = { id: 'a', name: 'a', hash: 'ab'.repeat(32), createdAt: 1 }

/** The cases about erasing a user. */
export const eraseContract: readonly StoreCase[] = [
  [
    'erases the sessions of one user, oldest first, on every connection, and forgets that they existed',
    async ({ store, another, pass }) => {
      const { sessions } = store
      const other = (await another()).sessions
      for (const id of ['a', 'b', 'ended']) await login(sessions, 1, id)
      await login(sessions, 2, 'of another user')
      await sessions.end(1, [tokenOf('ended')])
      const erased = await other.erase(1)
      assert.deepEqual(
        erased.ended.map(({ sessionId }) => sessionId),
        ['a', 'b'],
      )
      for (const { record } of erased.ended) assert.ok(record.createdAt <= erased.at)
      assert.deepEqual(await idsOf(sessions, 1), [])
      assert.deepEqual(await idsOf(sessions, 2), ['of another user'])
      assert.deepEqual((await sessions.erase(1)).ended, [])
      await pass(sessions.quietMs)
      assert.ok(await sessions.adopt(1, newSession('ended')), 'an ended session is still remembered')
    },
  ],
  [
    'removes the mark of a user whose sessions were all ended',
    async ({ store: { sessions }, pass }) => {
      await sessions.end(1)
      await sessions.erase(1)
      await sessions.end(1)
      await pass(sessions.quietMs)
      assert.ok(await sessions.adopt(1, newSession('dormant')))
    },
  ],
  [
    'stores nothing about an erased user for twice the deadline, and then a new user starts clean (rule 77)',
    async ({ store, another, pass }) => {
      const { sessions } = store
      const other = (await another()).sessions
      const before = await sessions.read(1)
      await login(sessions, 2, 'of another user')
      await sessions.erase(1)
      const read = await other.read(1)
      assert.deepEqual([before.isErased, read.isErased], [false, true])
      const refused = { code: 'store_unavailable' }
      for (const known of [before, read]) {
        await assert.rejects(other.commit(1, known, { admit: newSession('late'), end: [] }), refused)
      }
      await assert.rejects(other.adopt(1, newSession('late')), refused)
      await assert.rejects(other.changeState(1, openPending('late', LONG, 0)), refused)
      await pass(sessions.quietMs)
      const after = await sessions.read(1)
      assert.deepEqual([after.isErased, after.sessions, after.mark], [false, [], 0])
      await login(sessions, 1, 'new')
      assert.deepEqual(await idsOf(other, 1), ['new'])
    },
  ],
  [
    'refuses a login that was decided before sessions were erased, however late it comes',
    async ({ store: { sessions }, pass }) => {
      await login(sessions, 1, 'a')
      await pass(2)
      const read = await sessions.read(1)
      await sessions.erase(1)
      await pass(sessions.quietMs)
      // The clock of a test may jump, which a process that has just written the row does not notice.
      await sessions.read(1)
      const late = await sessions.commit(1, read, { admit: newSession('late'), end: [] })
      assert.equal(late.committed, false)
      await login(sessions, 1, 'b')
      const later = await sessions.commit(1, read, { admit: newSession('late'), end: [] })
      assert.equal(later.committed, false, 'the row was taken for the one that was read')
      assert.deepEqual(await idsOf(sessions, 1), ['b'])
    },
  ],
  [
    'erases all application passwords of one user',
    async ({ store: { passwords } }) => {
      for (const id of ['a', 'b']) await passwords.add(1, { ...password, id })
      await passwords.add(2, password)
      await passwords.erase(1)
      await passwords.erase('nobody')
      assert.deepEqual(await passwords.list(1), [])
      assert.equal(await passwords.has(1, password.hash), false)
      assert.deepEqual(await passwords.list(2), [password])
      await passwords.add(1, password)
      assert.equal(await passwords.has(1, password.hash), true)
    },
  ],
]
