import { describe, expect, it, vi } from 'vitest'
import { Erasures } from '../../../src/auth/erasures.ts'
import { SiteSecrets } from '../../../src/auth/site-secrets.ts'
import { type PendingLogin, PendingLogins } from '../../../src/limiter/pending-logins.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { withPrivateTransients } from '../../../src/stores/private-transients.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

const LIFE = 300_000
/** An application without application passwords or an activity log. */
const NOTHING_ELSE = {
  recordedNames: async () => [],
  forgetEvents: async () => null,
  forgetPasswords: async () => 0,
  forgetInMemory() {},
}

function pendingWorld() {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  return { ...createLimiterWorld({ clock, store }), store, pending: new PendingLogins(store) }
}

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
    const { pending, store } = pendingWorld()
    const kept: string[] = []
    const set = store.transients.set.bind(store.transients)
    store.transients.set = (key, value, ttlMs) => {
      kept.push(key, value)
      return set(key, value, ttlMs)
    }
    const secret = await pending.open(7, LIFE)
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(kept.join(' ')).not.toContain(secret)
    const [key = ''] = kept
    for (const wrong of ['', key, key.slice('pending:'.length), `${secret.slice(1)}A`, `${secret} `, undefined, 7]) {
      expect(await pending.read(wrong)).toBeUndefined()
      expect(await pending.take(wrong)).toBeUndefined()
    }
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
    const again = async () => pending.putBack(secret, (await pending.take(secret)) as PendingLogin)
    const first = (await pending.read(secret)) as PendingLogin
    expect(await again()).toEqual({ ...first, tries: 2 })
    expect(await again()).toEqual({ ...first, tries: 1 })
    expect(await again()).toBeUndefined()
    expect(await pending.read(secret)).toBeUndefined()
  })

  it('is not put back after the end of its life', async () => {
    const { pending } = pendingWorld()
    const secret = await pending.open(7, LIFE)
    const login = (await pending.take(secret)) as PendingLogin
    expect(await pending.putBack(secret, { ...login, expiresAt: Date.now() - 1 })).toBeUndefined()
    expect(await pending.read(secret)).toBeUndefined()
  })
})

describe('a pending login becomes void', () => {
  it.each([
    ['all sessions of the user end', async (world) => void (await world.limiter.sessions.endAll(7))],
    // The REST API and the command line pass strings.
    ['they end under the same id as a string', async (world) => void (await world.limiter.sessions.endAll('7'))],
    ['the other sessions of the user end', async (world) => endOthers(world, 7)],
    ['everybody is logged out', async (world) => void (await world.limiter.sessions.logoutAllUsers())],
  ] satisfies [string, (world: ReturnType<typeof pendingWorld>) => Promise<void>][])('when %s', async (_, change) => {
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

  it('if the store loses the mark of the change, even after a later login', async () => {
    const { pending, limiter, store } = pendingWorld()
    const early = await pending.open(7, LIFE)
    await limiter.sessions.endAll(7)
    await store.transients.take('pending:void:7')
    expect(await pending.read(early)).toBeUndefined()
    expect(await pending.read(await pending.open(7, LIFE))).toBeDefined()
    expect(await pending.read(early)).toBeUndefined()
  })

  it('by a change at the same moment, and otherwise keeps one mark with others that are opened at once', async () => {
    const { pending, limiter, store } = pendingWorld()
    const swap = store.transients.swap.bind(store.transients)
    let change = async () => {}
    store.transients.swap = async (...call) => {
      await change()
      return swap(...call)
    }
    const secrets = await Promise.all(Array.from({ length: 10 }, () => pending.open(7, LIFE)))
    for (const secret of secrets) expect(await pending.read(secret)).toBeDefined()
    await store.transients.take('pending:void:7')
    change = async () => {
      change = async () => {}
      await limiter.sessions.endAll(7)
    }
    const mark = await pending.open(7, LIFE).then((secret) => pending.read(secret))
    expect(mark?.mark).toBe(await store.transients.get('pending:void:7'))
  })

  it('when the user is erased, and leaves no mark of the user', async () => {
    const { pending, limiter, store, clock } = pendingWorld()
    const waiting = [await pending.open(7, LIFE), await pending.open('7', LIFE)]
    clock.advance(1)
    await limiter.erase(NOTHING_ELSE, 7)
    for (const secret of waiting) expect(await pending.read(secret)).toBeUndefined()
    expect(await store.transients.get('pending:void:7')).toBeUndefined()
    // The same id signs in later, as a new user.
    clock.advance(1000)
    const late = await pending.open(7, LIFE)
    for (const secret of waiting) expect(await pending.take(secret)).toBeUndefined()
    expect(await pending.take(late)).toBeDefined()
  })

  it.each([
    ['begins', true],
    ['begins and ends', false],
  ])('when the erasure of the user %s while it is opened, and leaves no mark', async (_, isRunning) => {
    const { pending, store } = pendingWorld()
    const erasures = new Erasures(store)
    const set = store.transients.set.bind(store.transients)
    vi.spyOn(store.transients, 'set').mockImplementation(async (key, ...rest) => {
      await set(key, ...rest)
      const isLogin = key.startsWith('pending:') && !key.startsWith('pending:void:')
      if (isLogin) await erasures.note([7], { ...(await erasures.begin(7)), isRunning })
    })
    await expect(pending.open(7, LIFE)).rejects.toMatchObject({ code: 'session_ended' })
    expect(await store.transients.get('pending:void:7')).toBeUndefined()
  })

  it('again by a second change, and stays open while the mark of an earlier one expires', async () => {
    const { pending, limiter, clock } = pendingWorld()
    await limiter.sessions.endAll(7)
    const early = await pending.open(7, 900_000)
    await limiter.sessions.endAll(7)
    expect(await pending.read(early)).toBeUndefined()
    clock.advance(86_399_999)
    const late = await pending.open(7, LIFE)
    clock.advance(1)
    expect(await pending.read(late)).toBeDefined()
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

async function endOthers({ login, limiter }: ReturnType<typeof pendingWorld>, userId: number): Promise<void> {
  await login(userId)
  const [session] = await limiter.sessions.list(userId)
  await limiter.sessions.endOthers(userId, session?.token as string)
}

it('mends a mark that cannot be read, so that logins can wait again', async () => {
  const store = memoryStore()
  const set = vi.spyOn(store.transients, 'set')
  const sealed = withPrivateTransients(store, new SiteSecrets(store.options, []))
  const pending = new PendingLogins(sealed)
  const early = await pending.open(7, 60_000)
  const [key = ''] = set.mock.calls.find(([name]) => name.startsWith('pending:void:')) ?? []
  await store.transients.set(key, 'damaged', 60_000)
  expect(await pending.read(early)).toBeUndefined()
  expect(await pending.read(await pending.open(7, 60_000))).toMatchObject({
    userId: 7,
    mark: expect.stringMatching(/./),
  })
  expect(await pending.read(early)).toBeUndefined()
})
