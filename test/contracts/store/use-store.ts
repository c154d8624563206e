import { expect } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import type { SessmgrStore, StoreSignals } from '../../../src/stores/store.ts'
import { idsOf, LONG, login, newSession } from './store-case.ts'

const password = { id: 'a', name: 'ü', hash: 'ab'.repeat(32), createdAt: 1 }

/**
 * Uses every part of a store once, in two processes, and wipes it. The rules are the same over every driver, so this
 * only shows that the parts are connected.
 */
export async function useStore(store: SessmgrStore, other: SessmgrStore): Promise<void> {
  for (const id of ['a', 'b', 'c']) await login(store.sessions, 7, id)
  const read = await store.sessions.read(7)
  const logins = Array.from({ length: 20 }, (_, n) =>
    (n % 2 ? store : other).sessions.commit(7, read, { admit: newSession(`s${n}`), end: [tokenOf('a')] }),
  )
  expect((await Promise.all(logins)).filter(({ committed }) => committed)).toHaveLength(1)
  expect(await other.sessions.touch(7, tokenOf('b'), LONG)).toBe(true)
  expect(await store.sessions.rotate(7, tokenOf('b'), 0, { graceMs: LONG, ttlMs: LONG })).toMatchObject({ number: 1 })
  expect(await other.sessions.endOthers(7, tokenOf('b'))).toHaveLength(2)
  expect(await store.sessions.adopt(7, newSession('a')), 'an ended session came back').toBeUndefined()
  expect(await idsOf(store.sessions, 7)).toEqual(['b'])
  await login(store.sessions, 8, 'erased')
  expect((await other.sessions.erase(8)).ended).toHaveLength(1)
  expect((await store.sessions.read(8)).isErased).toBe(true)

  const logout = await store.epoch.advance({ token: tokenOf('b'), generation: 0 })
  expect(await other.epoch.current()).toEqual({ generation: logout?.generation, keeps: tokenOf('b') })
  await store.options.set('thing', { text: 'ünï"\n' })
  const option = await other.options.get('thing')
  expect(option?.value).toEqual({ text: 'ünï"\n' })
  const swaps = [1, 2].map((value) => (value === 1 ? store : other).options.swap('thing', option?.revision, value))
  expect((await Promise.all(swaps)).filter(Boolean)).toHaveLength(1)
  await store.passwords.add(7, password)
  expect([await other.passwords.has(7, password.hash), await other.passwords.has(8, password.hash)]).toEqual([
    true,
    false,
  ])
  await store.transients.set('key', '', LONG)
  const taken = await Promise.all([store.transients.take('key'), other.transients.take('key')])
  expect(taken.filter((value) => value === '')).toHaveLength(1)
  expect([await store.transients.advance('group'), await other.transients.generation('group')]).toEqual([1, 1])
  await store.people.note([{ userId: 7, at: 1000, live: 2 }])
  expect(await other.people.count()).toEqual(new Map([[2, 1]]))

  await other.wipe()
  expect(await idsOf(store.sessions, 7)).toEqual([])
  expect(await store.sessions.useOf(7, tokenOf('b'))).toBeUndefined()
  expect(await store.sessions.adopt(7, newSession('a')), 'an end is still remembered').toBeDefined()
  expect(await store.epoch.current()).toEqual({ generation: 0, keeps: undefined })
  const left = [store.options.get('thing'), store.transients.get('key'), store.passwords.list(7)]
  expect(await Promise.all(left)).toEqual([undefined, undefined, []])
  expect(await store.transients.generation('group')).toBe(0)
  expect(await store.people.page({ sort: 'most', limit: 1 })).toEqual({ people: [] })
  expect(await store.options.swap('thing', undefined, 2)).toBe(true)
}

/** Subscribes to messages, records them, and can wait for one. */
async function listen(signals: StoreSignals) {
  const heard: string[] = []
  const stop = await signals.subscribe({ heard: (message) => void heard.push(message), missed() {} })
  const hears = (message: string) =>
    expect.poll(() => heard.includes(message), { timeout: 30_000, message: `hears ${message.slice(0, 20)}` }).toBe(true)
  return { heard, stop, hears }
}

/** Passes messages between two processes, as every store with signals can. */
export async function useSignals(one: StoreSignals, other: StoreSignals): Promise<void> {
  await one.publish('to nobody')
  const long = 'a1 '.repeat(7000).slice(0, 7000)
  const [stopped, here, there] = [await listen(one), await listen(one), await listen(other)]
  await stopped.stop()
  await stopped.stop()
  await one.publish('from one')
  await other.publish('from another')
  await one.publish(long)
  for (const { hears } of [here, there]) for (const message of ['from one', 'from another', long]) await hears(message)
  expect(stopped.heard).toEqual([])
  for (const { stop } of [here, there]) await stop()
}
