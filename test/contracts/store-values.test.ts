import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../src/sessions/session-record.ts'
import { PEOPLE_FACTS } from './store/people-facts.ts'
import { IMPLEMENTATIONS } from './store/store-case.ts'
import { useSignals, useStore } from './store/use-store.ts'

const times = <T>(count: number, task: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => task(n)))
const [HASH, OTHER] = ['ab'.repeat(32), 'cd'.repeat(32)] as const
const password = (id: string, createdAt: number, hash: string = HASH) => ({
  id,
  name: `named ${id} ü`,
  hash,
  createdAt,
})

describe.each(Object.entries(IMPLEMENTATIONS))('what is stored over %s', (name, open) => {
  it('options: have a new revision with every write, and share no objects', async () => {
    const { store, other } = open()
    const written = { list: [1, 'two', null, true], text: 'ünï"\n', nested: { __proto__x: 1 } }
    const expected = structuredClone(written)
    const revisions = new Set<string | undefined>()
    for (let write = 0; write < 5; write++) {
      await store.options.set('thing', written)
      revisions.add((await store.options.get('thing'))?.revision)
    }
    await store.options.delete('thing')
    expect(await other.options.get('thing')).toBeUndefined()
    await store.options.set('thing', written)
    const read = await other.options.get('thing')
    expect(revisions.add(read?.revision).size, 'a revision was repeated').toBe(6)
    written.nested.__proto__x = 2
    Object.assign(read?.value as object, { text: 'changed' })
    expect((await store.options.get('thing'))?.value).toEqual(expected)
    await store.options.delete('nothing')
    for (const unknown of ['nothing', '__proto__']) expect(await store.options.get(unknown)).toBeUndefined()
  })

  it('options: are swapped only at the given revision, by one of many at once', async () => {
    const { store, other } = open()
    const created = await times(20, (n) => (n % 2 ? store : other).options.swap('thing', undefined, n))
    expect(created.filter(Boolean)).toHaveLength(1)
    const first = await store.options.get('thing')
    expect(first?.value).toBe(created.indexOf(true))
    const swaps = [first?.revision, first?.revision, undefined].map((at, n) => () => other.options.swap('thing', at, n))
    const swapped: boolean[] = []
    for (const swap of swaps) swapped.push(await swap())
    expect([swapped, (await store.options.get('thing'))?.value]).toEqual([[true, false, false], 0])
  })

  it('transients: are there until they expire, are replaced, or one of many at once takes them', async () => {
    const { store, other, pass } = open()
    expect(await store.transients.get('nothing')).toBeUndefined()
    await store.transients.set('a', 'replaced', 60_000)
    await store.transients.set('a', '<!-- ünï -->\n"', 50)
    expect(await other.transients.get('a')).toBe('<!-- ünï -->\n"')
    pass(50)
    expect([await other.transients.get('a'), await store.transients.take('a')]).toEqual([undefined, undefined])
    await store.transients.set('a', '', 60_000)
    await store.transients.set('b', 'left', 60_000)
    const taken = await times(50, (n) => (n % 2 ? store : other).transients.take('a'))
    expect(taken.filter((value) => value !== undefined)).toEqual([''])
    expect([await store.transients.get('a'), await store.transients.get('b')]).toEqual([undefined, 'left'])
  })

  it('transients: count the generations of each group, even at once', async () => {
    const { store, other } = open()
    await times(20, (n) => (n % 2 ? store : other).transients.advance('comments'))
    const { transients } = other
    expect([await transients.generation('comments'), await transients.generation('others')]).toEqual([20, 0])
    expect(await store.transients.advance('comments')).toBe(21)
  })

  it("passwords: are each user's own, oldest first, and none of many that are added at once is lost", async () => {
    const { store, other } = open()
    await store.passwords.add(1, password('b', 1))
    await store.passwords.add('1', password('a', 2))
    await store.passwords.add(2, password('c', 3))
    expect(await other.passwords.list(1)).toEqual([password('b', 1), password('a', 2)])
    await times(30, (n) => (n % 2 ? store : other).passwords.add(3, password(`p${n}`, n)))
    expect(await store.passwords.list(3)).toHaveLength(30)
    await store.passwords.erase(1)
    await store.passwords.erase('nobody')
    expect([await store.passwords.list(1), await store.passwords.has(1, HASH)]).toEqual([[], false])
    expect(await other.passwords.list(2)).toEqual([password('c', 3)])
  })

  it('passwords: are found by their hash, unless they were removed or replaced', async () => {
    const { passwords } = open().store
    expect([await passwords.list(1), await passwords.remove(1, 'x')]).toEqual([[], false])
    for (const id of ['a', 'b']) await passwords.add(1, password(id, 1))
    const found = async () => [await passwords.has(1, HASH), await passwords.has('1', OTHER)]
    expect(await found()).toEqual([true, false])
    expect([await passwords.has(2, HASH), await passwords.has(1, '')]).toEqual([false, false])
    expect([await passwords.remove(1, 'a'), await passwords.remove(1, 'a')]).toEqual([true, false])
    expect(await found(), 'it still exists under the id b').toEqual([true, false])
    await passwords.add(1, password('b', 2, OTHER))
    expect([await found(), await passwords.list(1)]).toEqual([[false, true], [password('b', 2, OTHER)]])
    await passwords.remove(1, 'b')
    expect([await found(), await passwords.list(1)]).toEqual([[false, false], []])
  })

  it('rule 15: site-wide logouts have the time as their generation, which never repeats', async () => {
    const { store, other, pass } = open()
    const advance = async (epoch = store.epoch) => (await epoch.advance())?.generation ?? 0
    expect(await store.epoch.current()).toEqual({ generation: 0, keeps: undefined })
    const first = await store.epoch.advance()
    expect(first?.epoch).toBe(Math.floor((first?.generation ?? 0) / 1000))
    const all = await times(50, (n) => advance((n % 2 ? store : other).epoch))
    expect(new Set([...all, first?.generation]).size).toBe(51)
    const latest = Math.max(...all)
    expect(await other.epoch.current()).toEqual({ generation: latest, keeps: undefined })
    pass(-60_000)
    expect(await advance(other.epoch), 'the clock was set back').toBeGreaterThan(latest)
    pass(120_000)
    await store.wipe()
    expect(await advance(), 'a generation from before the loss').toBeGreaterThan(latest)
  })

  it('rule 78: a site-wide logout keeps one session, which must be current, and one of two at once is made', async () => {
    const { store, other } = open()
    const keep = (token: string, generation: number) => ({ token: tokenOf(token), generation })
    for (let round = 0; round < 20; round++) {
      const { generation } = await store.epoch.current()
      const asked = [store.epoch.advance(keep(`a${round}`, generation)), other.epoch.advance(keep('b', generation))]
      const [made, ...others] = (await Promise.all(asked)).filter((logout) => logout !== undefined)
      expect(others).toEqual([])
      expect(await store.epoch.current()).toEqual({ generation: made?.generation, keeps: made?.keeps })
    }
    await store.epoch.advance(keep('kept', (await store.epoch.current()).generation))
    const before = await other.epoch.current()
    expect(before.keeps).toBe(tokenOf('kept'))
    for (const generation of [0, before.generation - 1]) {
      expect(await other.epoch.advance(keep('over', generation))).toBeUndefined()
    }
    expect(await store.epoch.current()).toEqual(before)
    expect((await other.epoch.advance(keep('kept', 0)))?.keeps, 'it is kept on').toBe(tokenOf('kept'))
    await store.epoch.advance()
    expect((await other.epoch.current()).keeps).toBeUndefined()
  })

  it('the index of people: is as every index', async () => {
    for (const fact of Object.values(PEOPLE_FACTS)) {
      const { store, other } = open()
      await fact(store.people, other.people)
    }
  })

  it('everything: is used, wiped and used again, and signals are passed on', async () => {
    const { store, other } = open()
    await useStore(store, other)
    if (name === 'memory') await useSignals(store.signals as never, other.signals as never)
  })
})
