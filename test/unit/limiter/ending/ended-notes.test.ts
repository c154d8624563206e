import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { FAILURES, helpAt } from '../../../../src/ground/help.ts'
import { createEndedNotes } from '../../../../src/limiter/ending/ended-notes.ts'
import { type SessionRecord, tokenOf } from '../../../../src/sessions/session-record.ts'
import type { SiteLogout } from '../../../../src/sessions/session-registry.ts'
import { memoryStore } from '../../../../src/stores/memory-store.ts'
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

  it('is known after a login took its place, from one short write: rule 92: it names nobody', async () => {
    const world = noted()
    const first = (await world.login(7)) as string
    expect(world.written).toEqual([])
    world.clock.advance(1000)
    await world.login(7, { userAgent: `${CHROME}<img src=x onerror=alert(1)>`, ip: '192.0.2.9' })
    const known = { kind: 'displaced', at: world.clock.now(), device: 'Chrome on Windows' }
    for (const as of ['missing', 'ended'] as const) {
      expect(await world.limiter.causeOf(tokenOf(first), as)).toEqual(known)
    }
    const [{ key, value } = { key: '', value: '' }] = world.written
    for (const secret of ['192.0.2.9', 'Mozilla', '126', 'img', 'raw-id', tokenOf(first)]) {
      expect(key + value).not.toContain(secret)
    }
    expect([world.written.length, value.length < 200]).toEqual([1, true])
  })

  it('is not noted where there is nobody to tell: replaced, signed out or lost', async () => {
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

  it('is looked for once where the session is missing, and else again, for it may be noted a little later', async () => {
    const { limiter, store } = noted()
    const token = tokenOf('a')
    const get = vi.spyOn(store.transients, 'get')
    expect([await limiter.causeOf(token, 'missing'), get.mock.calls.length]).toEqual([undefined, 1])
    get.mockResolvedValueOnce(undefined)
    await store.transients.set(`ended:${token.slice(0, 16)}`, JSON.stringify(['app', 'a', null, null]), 1000)
    expect(await limiter.causeOf(token, 'ended')).toEqual({ kind: 'app', at: 10, device: null })
  })
})

/** Notes in a store of their own, and how long each is kept. */
function startNotes() {
  const store = memoryStore()
  const set = vi.spyOn(store.transients, 'set')
  const notes = createEndedNotes({ store, logger: console, deadlineMs: 1000, endedMemoryMs: DAY })
  return { store, notes, lastLife: () => set.mock.lastCall?.[2] }
}

describe('a note', () => {
  it('lasts for the rest of the life of its session, or a whole one, where the clocks differ', async () => {
    const { notes, lastLife } = startNotes()
    const [session] = sessionRecords(1)
    const record = { ...(session as SessionRecord), lastSeenAt: 400, expiresAt: 1000 }
    for (const [at, ttlMs] of [
      [500, 500],
      [300, 600],
      [1000, 600],
    ] as const) {
      await notes.remember([{ sessionId: 'raw', takenUp: true, record, lifeEnd: 1000, end: { kind: 'app', at } }])
      expect(lastLife(), `ended at ${at}`).toBe(ttlMs)
    }
  })

  it('about a site-wide logout lasts for endedMemory, has the second of the store, and is read once for all', async () => {
    const { store, notes, lastLife } = startNotes()
    const read = vi.spyOn(store.transients, 'get')
    const logout = (await store.epoch.advance()) as SiteLogout
    const cause = () => notes.endOf(tokenOf('a'), 'logout_all', logout.generation)
    read.mockRejectedValueOnce(new Error('The store is away'))
    expect([await cause(), await cause()], 'unreadable, and missing').toEqual([undefined, undefined])
    await notes.rememberLogout(logout, { kind: 'app', at: 1 })
    read.mockClear()
    for (const _ of [1, 2]) expect(await cause()).toEqual({ kind: 'logout_all', at: logout.epoch * 1000 })
    expect([lastLife(), read.mock.calls.length]).toEqual([DAY, 1])
    const at = logout.epoch * 1000 + 7
    await notes.rememberLogout(logout, { kind: 'app', at })
    expect(await notes.endOf(tokenOf('a'), 'logout_all')).toEqual({ kind: 'logout_all', at })
    const later = await store.epoch.advance()
    const ofLater = () => notes.endOf(tokenOf('a'), 'logout_all', later?.generation)
    const found = [await ofLater(), await notes.endOf(tokenOf('a'), 'logout_all')]
    expect(found, 'of a later logout').toEqual([undefined, undefined])
  })

  it('about a site-wide logout forgets who did it when that user is erased, and nobody else', async () => {
    const { store, notes } = startNotes()
    const logout = (await store.epoch.advance()) as SiteLogout
    await notes.rememberLogout(logout, { kind: 'admin', at: 1, by: { actor: 7, device: null, ip: null } })
    const actor = async () => (await notes.endOf(tokenOf('a'), 'logout_all', logout.generation))?.by?.actor
    const actors = []
    for (const userId of [8, '7']) {
      actors.push(await actor())
      await notes.forget(userId)
    }
    expect([...actors, await actor()]).toEqual([7, 7, undefined])
  })

  it('is neither written nor read when endedMemory is 0', async () => {
    const world = noted(undefined, { endedMemoryMs: 0 })
    const token = await tokenAfterLogin(world)
    await world.login(7)
    world.store.transients.get = () => Promise.reject(new Error('It was read'))
    expect([world.written, await world.limiter.causeOf(token, 'missing')]).toEqual([[], undefined])
    world.store.transients.get = async () => JSON.stringify(['app', 'a', null, null])
    expect(await world.limiter.causeOf(token, 'missing')).toBeUndefined()
  })

  it.each([
    ['fails', () => Promise.reject(new Error('no room')), 'no room'],
    ['hangs', () => new Promise<never>(() => {}), 'The store did not respond within 20 ms'],
  ])('that %s is a warning, and the login goes on; when it is read, an unknown cause', async (_how, spoil, error) => {
    const world = noted(spoil, { deadlineMs: 20 })
    const first = (await world.login(7)) as string
    const second = await world.login(7)
    expect([await world.live(7), [...world.host.ids]]).toEqual([[second], [second]])
    const message = 'The reason why a session ended could not be stored, so its user will not see it.'
    expect(world.logged).toEqual([[`${message} See ${helpAt(FAILURES)}`, { error }]])
    for (const get of [spoil, async () => 'no JSON']) {
      world.store.transients.get = get
      const { causeOf } = world.limiter
      const causes = [await causeOf(tokenOf(first), 'ended'), await causeOf(tokenOf(first), 'logout_all')]
      expect(causes).toEqual([undefined, undefined])
    }
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
})
