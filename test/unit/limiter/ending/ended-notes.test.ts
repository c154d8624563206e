import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { FAILURES, helpAt } from '../../../../src/ground/help.ts'
import { createEndedNotes } from '../../../../src/limiter/ending/ended-notes.ts'
import { type SessionRecord, tokenOf } from '../../../../src/sessions/session-record.ts'
import type { SiteLogout } from '../../../../src/sessions/session-registry.ts'
import { memoryStore } from '../../../../src/stores/memory-store.ts'
import type { LimitStrategy } from '../../../../src/strategies/limit-strategy.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { createLimiterWorld, type LimiterWorld } from '../../../support/limiter-world.ts'
import { sessionRecords } from '../../../support/session-records.ts'

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'
const DAY = 86_400_000

/** Logs a user in, and returns the token. */
async function tokenAfterLogin({ login }: LimiterWorld, attempt = {}, ttlMs = 7 * DAY): Promise<string> {
  const sessionId = await login(7, attempt, ttlMs)
  return tokenOf(sessionId as string)
}

/** A world whose store records what is written to the transient store, and may spoil it. */
function noted(spoil: () => Promise<void> = async () => {}, parts: Parameters<typeof createLimiterWorld>[0] = {}) {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const written: { key: string; value: string; ttlMs: number }[] = []
  const { transients } = store
  const set = transients.set.bind(transients)
  transients.set = async (key, value, ttlMs) => {
    written.push({ key, value, ttlMs })
    await spoil()
    await set(key, value, ttlMs)
  }
  return { ...createLimiterWorld({ clock, store, ...parts }), store, written }
}

describe('why a session ended', () => {
  it('is written for the last hundred of the sessions that one call ends', async () => {
    const world = noted(undefined, { settings: { maximum: 1000 } })
    const tokens: string[] = []
    for (let login = 0; login < 120; login++) tokens.push(await tokenAfterLogin(world))
    await world.limiter.sessions.endAll(7)
    expect(world.written.map(({ key }) => key).filter((key) => key.startsWith('ended:'))).toEqual(
      tokens.slice(-100).map((token) => `ended:${token.slice(0, 16)}`),
    )
  })

  it('is known after a login took its place: when, and by which device', async () => {
    const world = noted()
    const first = await tokenAfterLogin(world)
    world.clock.advance(1000)
    await world.login(7, { userAgent: CHROME, ip: '192.0.2.9' })
    expect(await world.limiter.causeOf(first, 'missing')).toEqual({
      kind: 'displaced',
      at: world.clock.now(),
      device: 'Chrome on Windows',
    })
    expect(await world.limiter.causeOf(first, 'ended')).toMatchObject({ kind: 'displaced' })
  })

  it.each(['idle', 'chosen'] as const)('is known by the kind that a mode gives: %s', async (kind) => {
    const decide: LimitStrategy['decide'] = ({ sessions }) => ({ admit: true, end: sessions, kind, actions: [] })
    const own = { id: 'own', label: 'Own', desc: 'Ends sessions.', decide }
    const world = noted(undefined, { strategies: [own], settings: { logic: 'own' } })
    const first = await tokenAfterLogin(world)
    await world.login(7)
    expect(await world.limiter.causeOf(first, 'missing')).toMatchObject({ kind, device: null })
  })

  it('is known after a call, with what the application says', async () => {
    const world = noted(undefined, { settings: { maximum: 9 } })
    const { sessions, causeOf } = world.limiter
    const tokens = []
    for (let login = 0; login < 4; login++) tokens.push(await tokenAfterLogin(world))
    const [one = '', two = '', three = '', four = ''] = tokens
    await sessions.end(7, one, { by: 'user', device: 'Firefox on Linux' })
    await sessions.end(7, two)
    await sessions.endOthers(7, four, { by: 'admin', actor: 1, note: 'Please sign in again.' })
    await sessions.endAll(7, { note: 'Your password has changed.' })
    expect(await causeOf(one, 'missing')).toMatchObject({ kind: 'user', device: 'Firefox on Linux' })
    expect(await causeOf(two, 'missing')).toEqual({ kind: 'app', at: expect.any(Number), device: null })
    expect(await causeOf(three, 'missing')).toMatchObject({ kind: 'admin', note: 'Please sign in again.' })
    expect(await causeOf(four, 'missing')).toMatchObject({ kind: 'app', note: 'Your password has changed.' })
  })

  it('is known after a site-wide logout, by one note for all', async () => {
    const world = noted(undefined, { settings: { maximum: 9 } })
    const token = await tokenAfterLogin(world)
    await world.login(8)
    const epoch = await world.limiter.sessions.logoutAllUsers(undefined, { by: 'admin', actor: 1, note: 'Sorry.' })
    expect(world.written).toHaveLength(1)
    const cause = await world.limiter.causeOf(token, 'logout_all')
    expect(cause).toEqual({ kind: 'logout_all', at: expect.any(Number), device: null, note: 'Sorry.' })
    expect(Math.floor((cause?.at ?? 0) / 1000)).toBe(epoch)
  })

  it('is not known from an older site-wide logout', async () => {
    const { limiter, store } = noted()
    await limiter.sessions.logoutAllUsers()
    await store.epoch.advance()
    expect(await limiter.causeOf('a', 'logout_all')).toBeUndefined()
  })

  it('is not noted where there is nobody to tell', async () => {
    const world = noted(undefined, { settings: { maximum: 2 } })
    const first = (await world.login(7)) as string
    const second = (await world.login(7, { replaces: first })) as string
    await world.limiter.release(7, tokenOf(second))
    const third = (await world.login(7)) as string
    world.host.ids.delete(third)
    await world.login(7)
    await world.login(7)
    expect(world.written).toEqual([])
  })

  it('is looked for once where the session is missing, for it may never have been noted', async () => {
    const { limiter, store } = noted()
    const get = vi.spyOn(store.transients, 'get')
    expect(await limiter.causeOf(tokenOf('a'), 'missing')).toBeUndefined()
    expect(get).toHaveBeenCalledTimes(1)
  })

  it('is found although it was noted only after the request came', async () => {
    const { limiter, store } = noted()
    const token = tokenOf('a')
    const get = store.transients.get.bind(store.transients)
    let reads = 0
    store.transients.get = async (key) => {
      reads += 1
      return reads === 1 ? undefined : get(key)
    }
    await store.transients.set(`ended:${token.slice(0, 16)}`, JSON.stringify(['app', 'a', null, null]), 1000)
    expect(await limiter.causeOf(token, 'ended')).toEqual({ kind: 'app', at: 10, device: null })
  })
})

describe('a note', () => {
  it('rule 92: lasts for endedMemory, and never longer than its session would have', async () => {
    const world = noted(undefined, { settings: { maximum: 9 }, endedMemoryMs: DAY })
    const long = await tokenAfterLogin(world)
    const short = await tokenAfterLogin(world, {}, 60_000)
    world.clock.advance(20_000)
    await world.limiter.settings.update({ maximum: 1 })
    await world.login(7)
    const { causeOf } = world.limiter
    world.clock.advance(39_999)
    expect(await causeOf(short, 'missing')).toBeDefined()
    world.clock.advance(1)
    expect(await causeOf(short, 'missing')).toBeUndefined()
    world.clock.advance(DAY - 40_001)
    expect(await causeOf(long, 'missing')).toBeDefined()
    world.clock.advance(1)
    expect(await causeOf(long, 'missing')).toBeUndefined()
  })

  it.each([
    ['the rest of its life', 500, 500],
    ['as long as a use prolongs its life, where the clocks differ', 300, 600],
    ['as long as a use prolongs its life, where it seems to have expired', 1000, 600],
  ])('lasts, for a session with little time left, %s', async (_what, at, ttlMs) => {
    const store = memoryStore()
    const set = vi.spyOn(store.transients, 'set')
    const notes = createEndedNotes({ store, logger: console, deadlineMs: 1000, endedMemoryMs: DAY })
    const [session] = sessionRecords(1)
    const record = { ...(session as SessionRecord), lastSeenAt: 400, expiresAt: 1000 }
    await notes.remember([{ sessionId: 'raw', takenUp: true, record, end: { kind: 'app', at } }])
    expect(set.mock.lastCall?.[2]).toBe(ttlMs)
  })

  it('about a site-wide logout lasts for endedMemory, and names nobody where nobody is known', async () => {
    const store = memoryStore()
    const set = vi.spyOn(store.transients, 'set')
    const notes = createEndedNotes({ store, logger: console, deadlineMs: 1000, endedMemoryMs: DAY })
    const logout = (await store.epoch.advance()) as SiteLogout
    await notes.rememberLogout(logout, { kind: 'app', at: 1 })
    expect(set.mock.lastCall?.[2]).toBe(DAY)
    expect(await notes.endOf(tokenOf('a'), 'logout_all')).toEqual({ kind: 'logout_all', at: logout.epoch * 1000 })
    // Within the second of the store, to the millisecond.
    const at = logout.epoch * 1000 + 7
    await notes.rememberLogout(logout, { kind: 'app', at })
    expect(await notes.endOf(tokenOf('a'), 'logout_all')).toEqual({ kind: 'logout_all', at })
  })

  it('about a site-wide logout is read once for all, but looked for again where it was missing or unreadable', async () => {
    const store = memoryStore()
    const read = vi.spyOn(store.transients, 'get')
    const notes = createEndedNotes({ store, logger: console, deadlineMs: 1000, endedMemoryMs: DAY })
    const logout = (await store.epoch.advance()) as SiteLogout
    const cause = () => notes.endOf(tokenOf('a'), 'logout_all', logout.generation)
    read.mockRejectedValueOnce(new Error('The store is away'))
    expect([await cause(), await cause()]).toEqual([undefined, undefined])
    await notes.rememberLogout(logout, { kind: 'app', at: 1 })
    read.mockClear()
    for (const _ of [1, 2]) expect(await cause()).toMatchObject({ kind: 'logout_all' })
    expect(read).toHaveBeenCalledTimes(1)
  })

  it('rule 92: has no address, no user agent, no session id and no token, and is short', async () => {
    const world = noted()
    const first = (await world.login(7)) as string
    await world.login(7, { userAgent: `${CHROME}<img src=x onerror=alert(1)>`, ip: '192.0.2.9' })
    const [{ key, value } = { key: '', value: '' }] = world.written
    for (const secret of ['192.0.2.9', 'Mozilla', '126', 'img', 'raw-id', tokenOf(first)]) {
      expect(key + value).not.toContain(secret)
    }
    expect(value.length).toBeLessThan(200)
  })

  it('is neither written nor read when endedMemory is 0', async () => {
    const world = noted(undefined, { endedMemoryMs: 0 })
    const token = await tokenAfterLogin(world)
    await world.login(7)
    await world.limiter.sessions.logoutAllUsers()
    world.store.transients.get = () => Promise.reject(new Error('It was read'))
    expect(world.written).toEqual([])
    expect(await world.limiter.causeOf(token, 'missing')).toBeUndefined()
  })

  it('is one write for each session that a login displaces, and none for any other login', async () => {
    const world = noted(undefined, { settings: { maximum: 2 } })
    await world.login(7)
    await world.login(7)
    expect(world.written).toHaveLength(0)
    await world.login(7)
    expect(world.written).toHaveLength(2)
  })

  it.each([
    ['fails', () => Promise.reject(new Error('no room')), 'no room'],
    ['hangs', () => new Promise<never>(() => {}), 'The store did not respond within 20 ms'],
  ])('that %s is a warning, and the login goes on', async (_how, spoil, error) => {
    const world = noted(spoil, { settings: { maximum: 2 }, deadlineMs: 20 })
    const first = (await world.login(7)) as string
    await world.login(7)
    const third = await world.login(7)
    expect(await world.live(7)).toEqual([third])
    expect(world.host.ids.has(first)).toBe(false)
    expect(world.logged).toHaveLength(1)
    const message = 'The reason why a session ended could not be stored, so its user will not see it.'
    expect(world.logged[0]).toEqual([`${message} See ${helpAt(FAILURES)}`, { error }])
    expect(await world.limiter.causeOf(tokenOf(first), 'missing')).toBeUndefined()
  })

  it('rule 92: that hangs delays a login by half a second at most', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const world = noted(() => new Promise<never>(() => {}), { deadlineMs: 60_000 })
    await world.login(7)
    let isDone = false
    const login = world.login(7).then(() => {
      isDone = true
    })
    await vi.advanceTimersByTimeAsync(1)
    expect([isDone, world.written.length]).toEqual([false, 1])
    await vi.advanceTimersByTimeAsync(500)
    expect(isDone).toBe(true)
    await login
  })

  it.each([
    ['fails', () => Promise.reject(new Error('down'))],
    ['hangs', () => new Promise<never>(() => {})],
    ['is damaged', async () => 'no JSON'],
  ])('that %s when it is read is an unknown cause', async (_how, get) => {
    const world = noted(undefined, { deadlineMs: 20 })
    world.store.transients.get = get
    expect(await world.limiter.causeOf(tokenOf('a'), 'ended')).toBeUndefined()
    expect(await world.limiter.causeOf(tokenOf('a'), 'logout_all')).toBeUndefined()
  })
})

describe('who ends a session', () => {
  it.each([
    [{ device: 'x'.repeat(65) }, '"device" must be a string of at most 64 characters'],
    [{ note: 'x'.repeat(201) }, '"note" must be a string of at most 200 characters'],
    [{ by: 'root' }, `"by" must be one of user, admin, app; got the string 'root'`],
    [{ actor: { id: 1 } }, 'Expected a user id'],
    [{ note: 1 }, '"note" must be a string'],
    [{ who: 1 }, 'There is no option "who"'],
    ['admin', 'The last argument of a call that ends sessions must be an object'],
  ])('%j is refused, and nothing ends', async (whom, message) => {
    const world = createLimiterWorld()
    const token = await tokenAfterLogin(world)
    const { sessions } = world.limiter
    const wrong = whom as { by: 'admin' }
    const calls = [
      sessions.end(7, token, wrong),
      sessions.endAll(7, wrong),
      sessions.endOthers(7, token, wrong),
      sessions.logoutAllUsers(undefined, wrong),
    ]
    for (const call of calls) await expect(call).rejects.toThrow(message)
    expect(await sessions.count(7)).toBe(1)
  })

  it('may have a device of 64 characters and a note of 200', async () => {
    const world = createLimiterWorld()
    const token = await tokenAfterLogin(world)
    const whom = { device: 'x'.repeat(64), note: 'y'.repeat(200) }
    await world.limiter.sessions.end(7, token, whom)
    expect(await world.limiter.causeOf(token, 'missing')).toMatchObject(whom)
  })
})
