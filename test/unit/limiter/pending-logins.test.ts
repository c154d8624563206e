import { describe, expect, it } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { PendingLogins } from '../../../src/limiter/pending-logins.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { MemoryRows } from '../../support/memory-driver.ts'

const LIFE = 300_000
/** An application without application passwords or an activity log. */
const NOTHING_ELSE = {
  recordedNames: async () => [],
  forgetEvents: async () => null,
  forgetPasswords: async () => 0,
  forgetInMemory() {},
}

function pendingWorld(open: (clock: FakeClock) => SessmgrStore = (clock) => memoryStore({ clock })) {
  const clock = fakeClock()
  const store = open(clock)
  return { ...createLimiterWorld({ clock, store }), store, pending: new PendingLogins(store) }
}

type World = ReturnType<typeof pendingWorld>

describe('a pending login', () => {
  it('is read as often as wanted, and taken once', async () => {
    const { pending } = pendingWorld()
    const secret = await pending.open(7, LIFE)
    expect(await pending.read(secret)).toMatchObject({ userId: 7, tries: 3 })
    const taken = await Promise.all(Array.from({ length: 20 }, () => pending.take(secret)))
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect(await pending.read(secret)).toBeUndefined()
  })

  it('keeps the type of the user id, and holds no place', async () => {
    const { pending, limiter } = pendingWorld()
    expect((await pending.read(await pending.open('7', LIFE)))?.userId).toBe('7')
    expect(await limiter.sessions.count('7')).toBe(0)
  })

  it('is found by its secret alone, of which the store holds only a hash', async () => {
    const rows = new MemoryRows()
    const driver = rows.driver()
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
      expect(await pending.read(wrong)).toBeUndefined()
      expect(await pending.take(wrong)).toBeUndefined()
    }
    expect(await pending.read(secret)).toBeDefined()
  })

  it.each([7, -1, '7', 'b\u00f6b@example.com', 'x'.repeat(300)])('keeps the id %j', async (userId) => {
    const { pending } = pendingWorld()
    expect((await pending.take(await pending.open(userId, LIFE)))?.userId).toBe(userId)
  })

  it('expires by the clock of the store', async () => {
    const { pending, clock } = pendingWorld()
    const secret = await pending.open(7, LIFE)
    clock.advance(LIFE - 1)
    expect(await pending.read(secret)).toBeDefined()
    clock.advance(1)
    expect(await pending.read(secret)).toBeUndefined()
    expect(await pending.take(secret)).toBeUndefined()
  })

  it('is put back twice after lost races, and then is over', async () => {
    const { pending } = pendingWorld()
    const secret = await pending.open(7, LIFE)
    const again = async () => (await pending.take(secret)) && pending.putBack(secret, true)
    expect(await again()).toEqual({ userId: 7, leftMs: LIFE, tries: 2 })
    expect(await again()).toEqual({ userId: 7, leftMs: LIFE, tries: 1 })
    expect(await again()).toBeUndefined()
    expect(await pending.read(secret)).toBeUndefined()
  })

  it('is not put back after the end of its life', async () => {
    const { pending, clock } = pendingWorld()
    const secret = await pending.open(7, LIFE)
    await pending.take(secret)
    clock.advance(LIFE)
    expect(await pending.putBack(secret, true)).toBeUndefined()
    expect(await pending.read(secret)).toBeUndefined()
  })

  it('lives no longer because the clock was ahead', async () => {
    const { pending, clock } = pendingWorld()
    clock.advance(86_400_000)
    const secret = await pending.open(7, LIFE)
    clock.advance(-86_400_000)
    expect(await pending.read(secret)).toMatchObject({ leftMs: 900_000 })
    clock.advance(900_000)
    expect(await pending.read(secret)).toBeUndefined()
  })

  it('is one of the last hundred of its user', async () => {
    const { pending } = pendingWorld()
    const [first = '', second = ''] = [await pending.open(7, LIFE), await pending.open(7, LIFE)]
    for (let count = 2; count <= 100; count++) await pending.open(7, LIFE)
    expect([await pending.read(first), await pending.read(second)]).toEqual([undefined, expect.anything()])
  })
})

describe('a pending login becomes void', () => {
  it.each([
    ['all sessions of the user end', async (world) => void (await world.limiter.sessions.endAll(7))],
    // The REST API and the command line pass strings.
    ['they end under the same id as a string', async (world) => void (await world.limiter.sessions.endAll('7'))],
    ['the other sessions of the user end', async (world) => endOthers(world, 7)],
    ['everybody is logged out', async (world) => void (await world.limiter.sessions.logoutAllUsers())],
  ] satisfies [string, (world: World) => Promise<void>][])('when %s', async (_, change) => {
    const world = pendingWorld()
    const { pending } = world
    const secret = await pending.open(7, LIFE)
    const other = await pending.open(8, LIFE)
    await change(world)
    expect(await pending.read(secret)).toBeUndefined()
    expect(await pending.take(secret)).toBeUndefined()
    const isSiteWide = (await pending.read(other)) === undefined
    expect(isSiteWide).toBe(_ === 'everybody is logged out')
    expect(await pending.read(await pending.open(7, LIFE))).toBeDefined()
  })

  it.each([
    ['all sessions of the user end', (world: World) => world.limiter.sessions.endAll(7)],
    ['the other sessions of the user end', (world: World) => endOthers(world, 7)],
    ['the user is erased', (world: World) => world.store.sessions.erase(7)],
    ['everybody is logged out', (world: World) => world.limiter.sessions.logoutAllUsers()],
  ])('although it was taken, when %s', async (_, change) => {
    for (const open of [undefined, (clock: FakeClock) => documentStore(new MemoryRows(clock).driver())]) {
      const world = pendingWorld(open)
      const { pending } = world
      const [secret, other] = [await pending.open(7, LIFE), await pending.open(7, LIFE)]
      for (const each of [secret, other]) await pending.take(each)
      expect(await pending.isValid(secret)).toBe(true)
      await change(world)
      expect([await pending.isValid(secret), await pending.putBack(other, true)]).toEqual([false, undefined])
      expect(await pending.close(secret)).toBe(false)
    }
  })

  it('when the user is erased, and stays so for a new user with the same id', async () => {
    const { pending, limiter, clock } = pendingWorld()
    const waiting = [await pending.open(7, LIFE), await pending.open('7', LIFE)]
    clock.advance(1)
    await limiter.erase(NOTHING_ELSE, 7)
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

async function endOthers({ login, limiter }: World, userId: number): Promise<void> {
  await login(userId)
  const [session] = await limiter.sessions.list(userId)
  await limiter.sessions.endOthers(userId, session?.token as string)
}
