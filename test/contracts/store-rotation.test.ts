import { describe, expect, it } from 'vitest'
import type { UserId } from '../../src/ground/user-id.ts'
import { tokenOf } from '../../src/sessions/session-record.ts'
import type { Rotation, SessionRegistry } from '../../src/sessions/session-registry.ts'
import { IMPLEMENTATIONS, idsOf, LONG, login, newSession, SHORT } from './store/store-case.ts'

const GRACE = 30_000

const on =
  (sessions: SessionRegistry) =>
  (presented: number, graceMs = GRACE, sessionId = 'a', userId: UserId = 1) =>
    sessions.rotate(userId, tokenOf(sessionId), presented, { graceMs, ttlMs: LONG })

/** The outcome and the number of a rotation. */
const short = (rotation: Rotation | undefined) => rotation && [rotation.outcome, rotation.number]

describe.each(Object.entries(IMPLEMENTATIONS))('refresh tokens over %s', (_, open) => {
  /** Two processes, and a session. */
  async function start() {
    const { store, other, pass } = open()
    await login(store.sessions, 1, 'a')
    return { sessions: store.sessions, pass, rotate: on(store.sessions), there: on(other.sessions) }
  }

  it('rotate once, and repeat the answer for every token of a burst, as long as it may take', async () => {
    const { rotate, there, pass } = await start()
    const first = await rotate(0)
    expect(short(first)).toEqual(['rotated', 1])
    expect(await there(0)).toEqual({ ...first, outcome: 'repeated' })
    for (const presented of [1, 2]) expect(short(await there(presented))).toEqual(['rotated', presented + 1])
    for (const presented of [0, 1, 2]) expect(short(await rotate(presented)), `${presented}`).toEqual(['repeated', 3])
    expect(short(await rotate(0, 0)), 'without a grace period').toEqual(['reused', 3])
    pass(SHORT)
    for (const presented of [3, 4, 5]) expect((await there(presented, 2 * SHORT))?.outcome).toBe('rotated')
    for (const presented of [3, 4, 5]) expect(short(await rotate(presented, 2 * SHORT))).toEqual(['repeated', 6])
    expect(short(await rotate(2, SHORT - 1))).toEqual(['reused', 6])
    expect(short(await rotate(0, LONG)), 'an earlier burst was forgotten').toEqual(['repeated', 6])
  })

  it('repeat each token for at least half the grace period, and never beyond its end', async () => {
    const { rotate, pass } = await start()
    for (let number = 0; number < 12; number++) {
      expect(short(await rotate(number, 2 * SHORT))).toEqual(['rotated', number + 1])
      // Used half the period ago, so it is repeated, even if others were used since.
      if (number > 3) expect(short(await rotate(number - 3, 2 * SHORT))).toEqual(['repeated', number + 1])
      pass(SHORT / 4)
    }
    pass(2 * SHORT)
    for (let number = 0; number < 12; number++) expect((await rotate(number, 2 * SHORT))?.outcome).toBe('reused')
    for (const number of [12, 13]) {
      expect((await rotate(number, 2 * SHORT))?.outcome).toBe('rotated')
      pass(0.9 * SHORT)
    }
    pass(SHORT)
    const repeated = ['reused', 'repeated']
    expect(await Promise.all([12, 13].map(async (number) => (await rotate(number, 2 * SHORT))?.outcome))).toEqual(
      repeated,
    )
  })

  it('count as a use, which changes nothing else, and neither does a token that is repeated or reused', async () => {
    const { sessions, rotate, pass } = await start()
    await login(sessions, 1, 'b')
    const [before] = (await sessions.read(1)).sessions
    pass(SHORT)
    const rotation = await rotate(0)
    const after = (await sessions.read(1)).sessions
    const used = { lastSeenAt: rotation?.at, expiresAt: (rotation?.at ?? 0) + LONG }
    expect(after.map(({ record }) => record)).toMatchObject([{ ...before?.record, ...used }, { token: tokenOf('b') }])
    expect(rotation?.at).toBeGreaterThan(before?.record.lastSeenAt ?? 0)
    pass(1)
    expect([short(await rotate(0)), short(await rotate(0, 0))]).toEqual([
      ['repeated', 1],
      ['reused', 1],
    ])
    expect((await sessions.read(1)).sessions).toEqual(after)
    expect(await sessions.touch(1, tokenOf('a'), undefined)).toBe(true)
    expect((await sessions.read(1)).sessions[0]?.record.expiresAt, 'used without a new expiry').toBe(used.expiresAt)
    expect(await sessions.touch(1, tokenOf('unknown'), undefined)).toBe(false)
  })

  it('rotate once if the same one is presented many times at once', async () => {
    const { sessions, rotate, there } = await start()
    const all = await Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? rotate : there)(0)))
    expect(all.filter((one) => one?.outcome === 'rotated')).toHaveLength(1)
    expect(new Set(all.map((one) => `${one?.number} ${one?.at}`)).size).toBe(1)
    expect(await idsOf(sessions, 1)).toEqual(['a'])
  })

  it('are accepted if the store has lost their rotation, up to the largest number', async () => {
    const { rotate } = await start()
    for (const number of [7, Number.MAX_SAFE_INTEGER - 1]) {
      expect(short(await rotate(number))).toEqual(['rotated', number + 1])
      expect(short(await rotate(number))).toEqual(['repeated', number + 1])
      expect(short(await rotate(6))).toEqual(['reused', number + 1])
    }
  })

  it('rotate for no session that is unknown, ended, expired or of another user', async () => {
    const { sessions, rotate, pass } = await start()
    await login(sessions, 1, 'short', SHORT)
    await login(sessions, 2, 'of another user')
    await sessions.end(1, [tokenOf('a')])
    pass(SHORT + 10)
    for (const id of ['unknown', 'a', 'short', 'of another user']) {
      expect(await rotate(0, GRACE, id), id).toBeUndefined()
    }
    expect(await rotate(0, GRACE, 'a', 'nobody')).toBeUndefined()
    expect(short(await rotate(0, GRACE, 'of another user', 2))).toEqual(['rotated', 1])
  })

  it('keep their number through uses and other logins, and lose it when the session ends or begins again', async () => {
    const { sessions, rotate, there } = await start()
    await rotate(2)
    await sessions.touch(1, tokenOf('a'), LONG)
    await login(sessions, 1, 'b')
    await login(sessions, 1, 'c', LONG, ['b'])
    await sessions.endOthers(1, tokenOf('a'))
    expect((await sessions.adopt(1, newSession('a')))?.isNew).toBeUndefined()
    expect(short(await there(2))).toEqual(['repeated', 3])
    await login(sessions, 1, 'a')
    expect(short(await rotate(0)), 'a registration kept the number').toEqual(['rotated', 1])
    await sessions.end(1)
    await login(sessions, 1, 'a')
    expect(short(await rotate(0)), 'an end kept the number').toEqual(['rotated', 1])
  })

  it('rule 87: are not repeated for longer because the clock was ahead for a moment', async () => {
    const { sessions, rotate, pass } = await start()
    pass(240_000)
    await login(sessions, 1, 'b')
    const life = { graceMs: GRACE, ttlMs: LONG + 240_000 }
    for (const presented of [0, 1]) {
      expect((await sessions.rotate(1, tokenOf('b'), presented, life))?.outcome).toBe('rotated')
    }
    pass(-240_000)
    expect((await rotate(0, GRACE, 'b'))?.outcome).toBe('repeated')
    pass(GRACE + 1)
    expect((await rotate(0, GRACE, 'b'))?.outcome, 'the jump prolonged the grace period').toBe('reused')
  })
})
