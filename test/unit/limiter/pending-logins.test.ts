import { describe, expect, it } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { PendingLogins } from '../../../src/limiter/pending-logins.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { MemoryRows } from '../../support/memory-driver.ts'

const LIFE = 300_000

function pendingWorld(open: (clock: FakeClock) => SessmgrStore = (clock) => memoryStore({ clock })) {
  const clock = fakeClock()
  const store = open(clock)
  return { ...createLimiterWorld({ clock, store }), store, pending: new PendingLogins(store) }
}

type World = ReturnType<typeof pendingWorld>

async function endOthers({ login, limiter }: World, userId: number): Promise<void> {
  await login(userId)
  const [session] = await limiter.sessions.list(userId)
  await limiter.sessions.endOthers(userId, session?.token as string)
}

describe('a pending login', () => {
  it('is read as often as wanted, taken once, and holds no place', async () => {
    const { pending, limiter } = pendingWorld()
    const secret = await pending.open(7, LIFE)
    for (const _ of [1, 2]) expect(await pending.read(secret)).toMatchObject({ userId: 7, tries: 3 })
    const taken = await Promise.all(Array.from({ length: 20 }, () => pending.take(secret)))
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect([await pending.read(secret), await limiter.sessions.count(7)]).toEqual([undefined, 0])
  })

  it('is found by its secret alone, of which the store holds only a hash', async () => {
    const driver = new MemoryRows().driver()
    const texts: string[] = []
    const swap: typeof driver.swap = (key, before, row, lifeMs) => {
      texts.push(key, row.text)
      return driver.swap(key, before, row, lifeMs)
    }
    const { pending } = pendingWorld(() => documentStore({ ...driver, swap }))
    const secret = await pending.open(7, LIFE)
    const [random = '', user = ''] = secret.split('.')
    expect(random).toMatch(/^[\w-]{43}$/)
    expect(texts.join(' ')).not.toContain(random)
    const [, name = ''] = /"p":\[\["([^"]+)"/.exec(texts.join(' ')) ?? []
    expect(name).toMatch(/^[\w-]{22}$/)
    const ofOther = (userId: unknown) => `${random}.${Buffer.from(JSON.stringify(userId)).toString('base64url')}`
    const guesses = [ofOther(8), ofOther('7'), ofOther(null), `${name}.${user}`, `${random}.`, `${random}.x`, random]
    for (const wrong of [...guesses, '', name, `${secret.slice(1)}A`, `${secret} `, undefined, 7]) {
      expect([await pending.read(wrong), await pending.take(wrong)], String(wrong)).toEqual([undefined, undefined])
    }
    expect(await pending.read(secret)).toBeDefined()
  })

  it('expires by the clock of the store, taken or not, and lives little longer because that was ahead', async () => {
    const { pending, clock } = pendingWorld()
    const [secret, taken] = [await pending.open(7, LIFE), await pending.open(7, LIFE)]
    await pending.take(taken)
    clock.advance(LIFE - 1)
    expect(await pending.read(secret)).toBeDefined()
    clock.advance(1)
    const left = [await pending.read(secret), await pending.take(secret), await pending.putBack(taken, true)]
    expect(left).toEqual([undefined, undefined, undefined])
    clock.advance(86_400_000)
    const ahead = await pending.open(7, LIFE)
    clock.advance(-86_400_000)
    expect(await pending.read(ahead)).toMatchObject({ leftMs: 900_000 })
    clock.advance(900_000)
    expect(await pending.read(ahead)).toBeUndefined()
  })

  it('is put back twice after lost races, as often as wanted after wrong proofs, and then is over', async () => {
    const { pending } = pendingWorld()
    const secret = await pending.open(7, LIFE)
    const again = async (isRace: boolean) => (await pending.take(secret)) && pending.putBack(secret, isRace)
    const left = { userId: 7, leftMs: LIFE }
    for (const _ of [1, 2, 3]) expect(await again(false)).toEqual({ ...left, tries: 3 })
    for (const tries of [2, 1]) expect(await again(true)).toEqual({ ...left, tries })
    expect(await again(false)).toEqual({ ...left, tries: 1 })
    expect([await again(true), await pending.read(secret)]).toEqual([undefined, undefined])
  })

  it('is one of the last hundred of its user', async () => {
    const { pending } = pendingWorld()
    const [first = '', second = ''] = [await pending.open(7, LIFE), await pending.open(7, LIFE)]
    for (let count = 2; count <= 100; count++) await pending.open(7, LIFE)
    expect([await pending.read(first), await pending.read(second)]).toEqual([undefined, expect.anything()])
  })
})

describe('a pending login becomes void', () => {
  const CHANGES: [what: string, change: (world: World) => Promise<unknown>][] = [
    ['all sessions of the user end', ({ limiter }) => limiter.sessions.endAll(7)],
    // The REST API and the command line pass strings.
    ['they end under the same id as a string', ({ limiter }) => limiter.sessions.endAll('7')],
    ['the other sessions of the user end', (world) => endOthers(world, 7)],
    ['everybody is logged out', ({ limiter }) => limiter.sessions.logoutAllUsers()],
  ]
  const inRows = (clock: FakeClock) => documentStore(new MemoryRows(clock).driver())
  it('when sessions of its user end, or everybody is logged out, although it was taken', async () => {
    for (const [open, [what, change]] of CHANGES.flatMap((each) => [
      [undefined, each] as const,
      [inRows, each] as const,
    ])) {
      const world = pendingWorld(open)
      const { pending } = world
      const waiting = await pending.open(7, LIFE)
      const [taken, lost] = [await pending.open(7, LIFE), await pending.open(7, LIFE)]
      for (const each of [taken, lost]) await pending.take(each)
      const other = await pending.open(8, LIFE)
      expect(await pending.isValid(taken)).toBe(true)
      await change(world)
      expect([await pending.read(waiting), await pending.take(waiting)]).toEqual([undefined, undefined])
      expect([await pending.isValid(taken), await pending.putBack(lost, true)], what).toEqual([false, undefined])
      expect(await pending.close(taken)).toBe(false)
      expect((await pending.read(other)) === undefined).toBe(what === 'everybody is logged out')
      expect(await pending.read(await pending.open(7, LIFE))).toBeDefined()
    }
  })

  it('when the user is erased, and stays so for a new user with the same id', async () => {
    const { pending, store, clock } = pendingWorld()
    const waiting = [await pending.open(7, LIFE), await pending.open('7', LIFE)]
    clock.advance(1)
    await store.sessions.erase(7)
    for (const secret of waiting) expect(await pending.read(secret)).toBeUndefined()
    await expect(pending.open(7, LIFE)).rejects.toMatchObject({ code: 'store_unavailable' })
    clock.advance(4000)
    const late = await pending.open(7, LIFE)
    for (const secret of waiting) expect(await pending.take(secret)).toBeUndefined()
    expect(await pending.take(late)).toBeDefined()
  })

  it('never by the end of a single session, or by an end that was refused', async () => {
    const { pending, limiter, login } = pendingWorld()
    await login(7)
    const secret = await pending.open(7, LIFE)
    await expect(limiter.sessions.endOthers(7, 'a'.repeat(64))).rejects.toMatchObject({ code: 'invalid_option' })
    const [session] = await limiter.sessions.list(7)
    await limiter.sessions.end(7, session?.token as string)
    expect(await pending.read(secret)).toBeDefined()
  })
})
