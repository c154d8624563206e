import { it } from 'vitest'
import { CACHES, expectRevoked, REVOCATIONS, STORAGES } from '../../support/better-auth-revocations.ts'
import { expectExact, type Limit } from '../../support/better-auth-storm.ts'
import { WAYS } from '../../support/better-auth-ways.ts'
import { expectExactProcesses } from '../../support/better-auth-workers.ts'

// The campaign has every way to sign in with every limit.
const OLDEST: Limit = { maximum: 2, logic: 'logout_oldest' }
const CASES: [keyof typeof WAYS, Limit][] = [
  ['email', OLDEST],
  ['email', { maximum: 1, logic: 'block' }],
  ['email', { maximum: 3, logic: 'allow' }],
  ['OAuth', OLDEST],
  ['magic link', { maximum: 2, logic: 'block' }],
]

it.each(CASES)('12 sign-ins at once by %s keep the limit %o', (name, limit) => expectExact(WAYS[name], 12, limit))

// The campaign has 200 sign-ins a process, and SQLite and PostgreSQL.
it('three processes on Redis keep the limit, although one is killed', () => expectExactProcesses('redis', 20))

// The campaign has every way to end a session with every storage and every cache.
const ENDS = Object.keys(REVOCATIONS).map((way, turn) => [way, turn] as const)

it.each(ENDS)('%s has effect at once, for cookies and bearer tokens', async (way, turn) => {
  for (const [isBearer, at] of [
    [false, turn],
    [true, turn + 5],
  ] as const) {
    const [storage, cache] = [STORAGES[at % STORAGES.length], CACHES[at % CACHES.length]]
    await expectRevoked(way, storage ?? 'database', cache ?? 'off', isBearer)
  }
})
