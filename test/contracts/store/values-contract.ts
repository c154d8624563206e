import assert from 'node:assert/strict'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import type { LogoutEpoch } from '../../../src/sessions/session-registry.ts'
import type { StoreCase } from './store-case.ts'

/** The cases about option stores. */
export const optionContract: readonly StoreCase[] = [
  [
    'returns undefined for an option that was never written',
    async ({ store }) => {
      assert.equal(await store.options.get('nothing'), undefined)
      assert.equal(await store.options.get('__proto__'), undefined)
    },
  ],
  [
    'returns what was written on every connection',
    async ({ store, another }) => {
      const value = { list: [1, 'two', null, true], text: 'ünï"\n', nested: { __proto__x: 1 } }
      await store.options.set('thing', value)
      assert.deepEqual((await (await another()).options.get('thing'))?.value, value)
    },
  ],
  [
    'changes the revision with every write, even of an equal value',
    async ({ store }) => {
      const revisions = new Set<string | undefined>()
      for (let write = 0; write < 5; write++) {
        await store.options.set('thing', { same: true })
        revisions.add((await store.options.get('thing'))?.revision)
      }
      assert.equal(revisions.size, 5)
    },
  ],
  [
    'does not repeat a revision after a deletion',
    async ({ store }) => {
      await store.options.set('thing', 1)
      const before = (await store.options.get('thing'))?.revision
      await store.options.delete('thing')
      assert.equal(await store.options.get('thing'), undefined)
      await store.options.set('thing', 2)
      assert.notEqual((await store.options.get('thing'))?.revision, before)
    },
  ],
  [
    'accepts exactly one of many concurrent first writes',
    async ({ store, another }) => {
      const other = await another()
      const created = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other).options.swap('thing', undefined, index)),
      )
      assert.equal(created.filter(Boolean).length, 1)
      assert.equal((await store.options.get('thing'))?.value, created.indexOf(true))
    },
  ],
  [
    'swaps a value only if it is at the given revision',
    async ({ store }) => {
      await store.options.set('thing', 1)
      const first = (await store.options.get('thing'))?.revision
      assert.equal(await store.options.swap('thing', first, 2), true)
      assert.equal(await store.options.swap('thing', first, 3), false)
      assert.equal(await store.options.swap('thing', undefined, 4), false)
      assert.equal((await store.options.get('thing'))?.value, 2)
    },
  ],
  [
    'deletes an unknown option without an error',
    async ({ store }) => {
      await store.options.delete('nothing')
    },
  ],
  [
    'does not share objects with writers or readers',
    async ({ store }) => {
      const written = { deep: { value: 1 } }
      await store.options.set('thing', written)
      written.deep.value = 2
      const read = (await store.options.get('thing'))?.value as typeof written
      assert.equal(read.deep.value, 1)
      read.deep.value = 3
      assert.deepEqual((await store.options.get('thing'))?.value, { deep: { value: 1 } })
    },
  ],
]

/** The cases about transient stores. */
export const transientContract: readonly StoreCase[] = [
  [
    'returns undefined for a key that was never stored',
    async ({ store }) => {
      assert.equal(await store.transients.get('nothing'), undefined)
      assert.equal(await store.transients.generation('nothing'), 0)
    },
  ],
  [
    'returns what was stored under a key, on every connection',
    async ({ store, another }) => {
      await store.transients.set('a', '<!-- ünï -->\n"', 60_000)
      await store.transients.set('b', '', 60_000)
      const other = (await another()).transients
      assert.equal(await other.get('a'), '<!-- ünï -->\n"')
      assert.equal(await other.get('b'), '')
    },
  ],
  [
    'replaces an earlier value',
    async ({ store }) => {
      await store.transients.set('a', '1', 60_000)
      await store.transients.set('a', '2', 60_000)
      assert.equal(await store.transients.get('a'), '2')
    },
  ],
  [
    'forgets a value when it expires',
    async ({ store, pass }) => {
      await store.transients.set('a', '1', 50)
      await pass(80)
      assert.equal(await store.transients.get('a'), undefined)
    },
  ],
  [
    'returns a string to exactly one of 50 concurrent takes, and deletes it',
    async ({ store, another }) => {
      const stores = [store.transients, (await another()).transients]
      await store.transients.set('a', '', 60_000)
      await store.transients.set('b', 'left', 60_000)
      const taken = await Promise.all(Array.from({ length: 50 }, (_, index) => stores[index % 2]?.take('a')))
      assert.deepEqual(
        taken.filter((value) => value !== undefined),
        [''],
      )
      assert.equal(await store.transients.get('a'), undefined)
      assert.equal(await store.transients.get('b'), 'left')
      await store.transients.set('a', 'again', 60_000)
      assert.equal(await store.transients.take('a'), 'again')
      assert.equal(await store.transients.take('never stored'), undefined)
    },
  ],
  [
    'takes nothing that has expired',
    async ({ store, pass }) => {
      await store.transients.set('a', '1', 50)
      await pass(80)
      assert.equal(await store.transients.take('a'), undefined)
    },
  ],
  [
    'counts the generations of each group, even with concurrent calls',
    async ({ store, another }) => {
      const other = (await another()).transients
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? store.transients : other).advance('comments')),
      )
      assert.equal(await other.generation('comments'), 20)
      assert.equal(await other.generation('others'), 0)
      assert.equal(await store.transients.advance('comments'), 21)
    },
  ],
]

const HASH = 'ab'.repeat(32)
const OTHER = 'cd'.repeat(32)
const password = (id: string, createdAt: number, hash = HASH) => ({ id, name: `named ${id} ü`, hash, createdAt })

/** The cases about stores of application passwords. */
export const passwordContract: readonly StoreCase[] = [
  [
    'has no passwords for an unknown user',
    async ({ store }) => {
      assert.deepEqual(await store.passwords.list(1), [])
      assert.equal(await store.passwords.has(1, HASH), false)
      assert.equal(await store.passwords.remove(1, 'x'), false)
    },
  ],
  [
    "lists each user's passwords, oldest first, on every connection",
    async ({ store, another }) => {
      await store.passwords.add(1, password('b', 1))
      await store.passwords.add('1', password('a', 2))
      await store.passwords.add(2, password('c', 3))
      const other = (await another()).passwords
      assert.deepEqual(await other.list(1), [password('b', 1), password('a', 2)])
      assert.deepEqual(await other.list(2), [password('c', 3)])
    },
  ],
  [
    'removes one password at a time',
    async ({ store }) => {
      await store.passwords.add(1, password('a', 1))
      await store.passwords.add(1, password('b', 2))
      assert.equal(await store.passwords.remove(1, 'a'), true)
      assert.equal(await store.passwords.remove(1, 'a'), false)
      assert.deepEqual(await store.passwords.list(1), [password('b', 2)])
    },
  ],
  [
    'finds a password by its hash, but only for its own user',
    async ({ store, another }) => {
      await store.passwords.add(1, password('a', 1))
      await store.passwords.add(1, password('b', 2, OTHER))
      const other = (await another()).passwords
      assert.equal(await other.has('1', HASH), true)
      assert.equal(await other.has(1, OTHER), true)
      assert.equal(await other.has(1, 'ef'.repeat(32)), false)
      assert.equal(await other.has(1, ''), false)
      assert.equal(await other.has(2, HASH), false)
    },
  ],
  [
    'does not find removed or replaced passwords, but finds one that still exists under another id',
    async ({ store }) => {
      for (const id of ['a', 'b']) await store.passwords.add(1, password(id, 1))
      assert.equal(await store.passwords.remove(1, 'a'), true)
      assert.equal(await store.passwords.has(1, HASH), true, 'it still exists under the id b')
      await store.passwords.add(1, password('b', 2, OTHER))
      assert.deepEqual(await store.passwords.list(1), [password('b', 2, OTHER)])
      assert.equal(await store.passwords.has(1, HASH), false, 'it was replaced')
      assert.equal(await store.passwords.has(1, OTHER), true)
      assert.equal(await store.passwords.remove(1, 'b'), true)
      assert.equal(await store.passwords.has(1, OTHER), false, 'it was removed')
      assert.deepEqual(await store.passwords.list(1), [])
    },
  ],
  [
    'loses none of many passwords that are added concurrently',
    async ({ store, another }) => {
      const other = await another()
      await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 ? store : other).passwords.add(1, password(`p${index}`, index)),
        ),
      )
      assert.equal((await store.passwords.list(1)).length, 30)
    },
  ],
]

/** The cases about site-wide logouts. */
export const epochContract: readonly StoreCase[] = [
  [
    'starts at generation 0, and keeps no session',
    async ({ store }) => {
      assert.deepEqual(await store.epoch.current(), { generation: 0, keeps: undefined })
    },
  ],
  [
    'begins a higher generation with each site-wide logout, for every connection',
    async ({ store, another }) => {
      const first = await logOut(store.epoch)
      const other = await another()
      const second = await logOut(other.epoch)
      assert.ok(second > first, `${second} came after ${first}`)
      assert.deepEqual(await store.epoch.current(), { generation: second, keeps: undefined })
    },
  ],
  [
    'takes the time as the generation, so that it never repeats one that the store has lost',
    async ({ store, another, pass, rewind }) => {
      const first = await logOut(store.epoch)
      await store.wipe()
      await pass(10)
      const second = await logOut((await another()).epoch)
      assert.ok(second > first, `${second} came after ${first}`)
      await rewind?.(60_000)
      assert.ok((await logOut((await another()).epoch)) > second, 'the clock was set back')
    },
  ],
  [
    'keeps one session, until the next site-wide logout',
    async ({ store, another }) => {
      const other = await another()
      const keeps = tokenOf('kept')
      const logout = await store.epoch.advance({ token: keeps, generation: 0 })
      assert.equal(logout?.keeps, keeps)
      assert.deepEqual(await other.epoch.current(), { generation: logout.generation, keeps })
      const again = await other.epoch.advance({ token: keeps, generation: 0 })
      assert.deepEqual(await store.epoch.current(), { generation: again?.generation, keeps })
      await store.epoch.advance()
      assert.equal((await other.epoch.current()).keeps, undefined)
    },
  ],
  [
    'changes nothing to keep a session that is over',
    async ({ store, another }) => {
      await store.epoch.advance({ token: tokenOf('kept'), generation: 0 })
      const before = await store.epoch.current()
      const { epoch } = await another()
      assert.equal(await epoch.advance({ token: tokenOf('over'), generation: 0 }), undefined)
      assert.equal(await epoch.advance({ token: tokenOf('over'), generation: before.generation - 1 }), undefined)
      assert.deepEqual(await epoch.current(), before)
    },
  ],
  [
    'makes one of two concurrent site-wide logouts that keep different sessions',
    async ({ store, another }) => {
      const other = await another()
      for (let round = 0; round < 20; round++) {
        const { generation } = await store.epoch.current()
        const [a, b] = ['a', 'b'].map((name) => ({ token: tokenOf(`${name}${round}`), generation }))
        const both = await Promise.all([store.epoch.advance(a), other.epoch.advance(b)])
        const [made, ...others] = both.filter((logout) => logout !== undefined)
        assert.ok(made && others.length === 0, 'both were made, or none')
        assert.deepEqual(await store.epoch.current(), { generation: made.generation, keeps: made.keeps })
      }
    },
  ],
  [
    'returns the time of the logout in Unix seconds',
    async ({ store }) => {
      const epoch = (await store.epoch.advance())?.epoch ?? 0
      assert.ok(Number.isInteger(epoch))
      assert.ok(Math.abs(epoch - Date.now() / 1000) < 60, `${epoch} is not the current time in seconds`)
    },
  ],
  [
    'gives each of several concurrent site-wide logouts its own generation',
    async ({ store, another }) => {
      const other = await another()
      const all = await Promise.all(Array.from({ length: 50 }, (_, index) => logOut((index % 2 ? store : other).epoch)))
      assert.equal(new Set(all).size, 50)
      assert.equal((await store.epoch.current()).generation, Math.max(...all))
    },
  ],
]

/** Logs everybody out, and returns the generation. */
async function logOut(epoch: LogoutEpoch): Promise<number> {
  const logout = await epoch.advance()
  assert.ok(logout)
  return logout.generation
}
