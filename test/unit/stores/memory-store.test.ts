import { describe, expect, it } from 'vitest'
import { SiteSecrets } from '../../../src/auth/site-secrets.ts'
import type { UserId } from '../../../src/ground/user-id.ts'
import type { StoredSession } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { withPrivateTransients } from '../../../src/stores/private-transients.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { collectGarbage } from '../../support/heap.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const session = (sessionId: string, ttlMs: number) => ({
  sessionId,
  ttlMs,
  ip: null,
  userAgent: null,
  device: null,
  generation: 0,
})

async function login(
  { sessions }: SessmgrStore,
  userId: UserId,
  sessionId: string,
  ttlMs: number,
): Promise<StoredSession> {
  const read = await sessions.read(userId)
  const result = await sessions.commit(userId, read, { admit: session(sessionId, ttlMs), end: [] })
  if (!result.committed) throw new Error(`the login ${sessionId} ran into a conflict`)
  return result.admitted
}

/** Logs many users in and tells, when asked, how many of their sessions are still held in memory. */
async function logManyUsersIn(store: SessmgrStore, count: number, ttlMs: number): Promise<() => number> {
  const held: WeakRef<StoredSession>[] = []
  for (let user = 0; user < count; user++) held.push(new WeakRef(await login(store, user, `session ${user}`, ttlMs)))
  return () => {
    collectGarbage()
    return held.filter((reference) => reference.deref() !== undefined).length
  }
}

/** Lets one user log in many times, as visitors to a busy site would. */
async function keepBusy(store: SessmgrStore, logins: number): Promise<void> {
  for (let count = 0; count < logins; count++) await login(store, 'busy', 'the same session', MINUTE)
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('the memory of memoryStore', () => {
  it('forgets 10,000 users who never return', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const heldSessions = await logManyUsersIn(store, 10_000, MINUTE)
    await turn()
    expect(heldSessions()).toBe(10_000)
    clock.advance(2 * MINUTE)
    await keepBusy(store, 10_100)
    await turn()
    expect(heldSessions()).toBeLessThan(100)
  })
})

describe('the transient store', () => {
  it('keeps notes about ended sessions apart, so 10,000 cached strings evict none, nor the other way round', async () => {
    const { transients } = memoryStore()
    await transients.set('ended:a', 'note', DAY)
    for (let count = 0; count < 10_000; count++) await transients.set(`page ${count}`, 'cached', DAY)
    expect(await transients.get('ended:a')).toBe('note')
    for (let count = 0; count < 10_000; count++) await transients.set(`ended:${count}`, 'note', DAY)
    const found = ['ended:a', 'ended:0', 'page 0', 'page 9999'].map((key) => transients.get(key))
    expect(await Promise.all(found)).toEqual([undefined, 'note', 'cached', 'cached'])
    await transients.set('page', 'cached', DAY)
    expect([await transients.get('page 0'), await transients.get('ended:0')]).toEqual([undefined, 'note'])
  })

  it('keeps marks of erasures apart, also as the service uses it, so 10,000 notes evict none', async () => {
    const [plain, store] = [memoryStore(), memoryStore()]
    for (const transients of [
      plain.transients,
      withPrivateTransients(store, new SiteSecrets(store.options, [])).transients,
    ]) {
      await transients.set('erased:7', 'mark', DAY)
      for (let count = 0; count < 10_000; count++) await transients.set(`ended:${count}`, 'note', DAY)
      expect(await transients.get('erased:7')).toBe('mark')
      expect([await transients.take('erased:7'), await transients.get('erased:7')]).toEqual(['mark', undefined])
      expect([await transients.advance('pages'), await transients.generation('pages')]).toEqual([1, 1])
    }
  })
})

it('finds the mark of an erasure from before the secret was changed', async () => {
  const store = memoryStore()
  const [before, after] = [['old'], ['new', 'old']].map((secrets) =>
    withPrivateTransients(store, new SiteSecrets(store.options, secrets)),
  )
  await before?.transients.set('erased:7', 'mark', DAY)
  expect(await after?.transients.get('erased:7')).toBe('mark')
})

it('lists the first of many people, in whatever order they came', async () => {
  const { people } = memoryStore()
  const [count, step] = [7000, 1009]
  await people.note(Array.from({ length: count }, (_, n) => ({ userId: n, at: (n * step) % count, live: 1 })))
  const page = await people.page({ sort: 'recent', limit: 3 })
  expect(page.people.map(({ at }) => at)).toEqual([count - 1, count - 2, count - 3])
})

it('adopts no unknown session while it has had to forget a user whose sessions were all ended', async () => {
  const clock = fakeClock()
  const { sessions } = memoryStore({ clock })
  const adopt = (userId: number) => sessions.adopt(userId, session(`s${userId}`, MINUTE))
  await sessions.end(0)
  for (let userId = 1; userId < 100_000; userId++) await sessions.end(userId)
  expect(await adopt(200_000)).toMatchObject({ isNew: true })
  await sessions.end(100_000)
  expect(await Promise.all([adopt(0), adopt(1), adopt(300_000)])).toEqual([undefined, undefined, undefined])
  clock.advance(401 * DAY)
  expect(await adopt(0)).toMatchObject({ isNew: true })
})
