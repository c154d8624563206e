import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { SiteSecrets } from '../../../src/auth/site-secrets.ts'
import { choicesKey, guessesKey, Reservations } from '../../../src/limiter/reservations.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { withPrivateTransients } from '../../../src/stores/private-transients.ts'

const MINUTE = 60_000
const KEY = 'guesses:test:7'

function reservationWorld(count: number, minutes: number) {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { transients } = memoryStore()
  return {
    transients,
    reservations: new Reservations(transients, { count, minutes }),
    pass: (ms: number) => vi.setSystemTime(Date.now() + ms),
  }
}

/** Reservations as the service counts them: the store holds them encrypted, under keys that name nobody. */
function sealedWorld(count: number, minutes: number) {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const store = memoryStore()
  const { transients: raw } = store
  const set = vi.spyOn(raw, 'set')
  const { transients } = withPrivateTransients(store, new SiteSecrets(store.options, []))
  return {
    raw,
    transients,
    reservations: new Reservations(transients, { count, minutes }),
    /** The key under which the store has written last. */
    lastKey: () => String(set.mock.lastCall?.[0]),
    pass: (ms: number) => vi.setSystemTime(Date.now() + ms),
  }
}

/** Damages a stored value as `kind` says. */
const DAMAGES: Readonly<Record<string, (stored: string) => string>> = {
  'other text': () => 'damaged',
  nothing: () => '',
  'a part of it': (stored) => stored.slice(0, 20),
  'a changed bit': (stored) => (stored.startsWith('A') ? 'B' : 'A') + stored.slice(1),
  'the same bytes in another spelling': (stored) => `${stored}=`,
}

describe('reservations', () => {
  it('are free again one by one, each when its own period is over, to the millisecond', async () => {
    const { reservations, pass } = reservationWorld(2, 60)
    const first = Date.now()
    await reservations.reserve(KEY)
    expect(await reservations.until(KEY)).toBeUndefined()
    pass(10 * MINUTE)
    await reservations.reserve(KEY)
    expect(await reservations.reserve(KEY)).toEqual({ until: first + 60 * MINUTE })
    expect(await reservations.until('guesses:test:8')).toBeUndefined()
    pass(50 * MINUTE - 1)
    expect(await reservations.until(KEY)).toBe(first + 60 * MINUTE)
    pass(1)
    expect(await reservations.until(KEY)).toBeUndefined()
    await reservations.reserve(KEY)
    expect(await reservations.until(KEY)).toBe(first + 70 * MINUTE)
  })

  it('are exactly as many as are allowed of 200 calls at once, and refused calls do not extend the period', async () => {
    const { reservations, pass } = reservationWorld(5, 10)
    const all = await Promise.all(Array.from({ length: 200 }, () => reservations.reserve(KEY)))
    expect(all.filter(({ id }) => id !== undefined)).toHaveLength(5)
    pass(9 * MINUTE)
    expect((await reservations.reserve(KEY)).until).toBe(Date.now() + MINUTE)
    pass(MINUTE)
    expect((await reservations.reserve(KEY)).id).toBeDefined()
  })

  it.each(['', 'null', '{}', '5', '[5]', '[null]', '[["a"]]', '[["a","soon"]]', '[["a",null]]', '[[1,2]]', '\u0000'])(
    'rule 59: are all taken for one period where the store holds %j in their place',
    async (text) => {
      const { reservations, transients, pass } = reservationWorld(3, 10)
      await transients.set(KEY, text, 60 * MINUTE)
      const until = Date.now() + 10 * MINUTE
      expect([await reservations.until(KEY), await reservations.reserve(KEY)]).toEqual([until, { until }])
      pass(MINUTE)
      expect([await reservations.until(KEY), await reservations.reserve(KEY)]).toEqual([until, { until }])
      await reservations.giveBack(KEY, { id: 'a' })
      expect(await reservations.until(KEY)).toBe(until)
      pass(9 * MINUTE)
      for (let free = 3; free > 0; free--) expect((await reservations.reserve(KEY)).id).toBeDefined()
      expect((await reservations.reserve(KEY)).until).toBeDefined()
    },
  )

  describe.each([guessesKey('password', 7), choicesKey('mark', 7)])('rule 59: as the service counts %s', (key) => {
    it.each(Object.keys(DAMAGES))('are all taken for one period where the store holds %s', async (kind) => {
      const { reservations, raw, lastKey, pass } = sealedWorld(3, 10)
      await reservations.reserve(key)
      const place = lastKey()
      await raw.set(place, (DAMAGES[kind] as (stored: string) => string)((await raw.get(place)) ?? ''), 60 * MINUTE)
      const until = Date.now() + 10 * MINUTE
      expect(await reservations.until(key)).toBe(until)
      const all = await Promise.all(Array.from({ length: 50 }, () => reservations.reserve(key)))
      expect(all.filter(({ id }) => id !== undefined)).toEqual([])
      pass(MINUTE)
      expect([await reservations.until(key), await reservations.reserve(key)]).toEqual([until, { until }])
      pass(9 * MINUTE)
      for (let free = 3; free > 0; free--) expect((await reservations.reserve(key)).id).toBeDefined()
      expect((await reservations.reserve(key)).until).toBeDefined()
    })
  })

  it('are all taken if the string is damaged again while it is mended', async () => {
    const { reservations, raw, lastKey } = sealedWorld(3, 10)
    await reservations.reserve(KEY)
    const place = lastKey()
    await raw.set(place, 'damaged', 60 * MINUTE)
    const swap = raw.swap.bind(raw)
    vi.spyOn(raw, 'swap').mockImplementationOnce(async (...call) => {
      await raw.set(place, 'damaged again', 60 * MINUTE)
      return swap(...call)
    })
    expect((await reservations.reserve(KEY)).until).toBeDefined()
    expect(await raw.get(place)).not.toContain('damaged')
  })

  it('are given back one by one, and only once', async () => {
    const { reservations } = reservationWorld(2, 10)
    const [one, other] = [await reservations.reserve(KEY), await reservations.reserve(KEY)]
    await Promise.all([reservations.giveBack(KEY, one), reservations.giveBack(KEY, one)])
    expect((await reservations.reserve(KEY)).id).toBeDefined()
    expect((await reservations.reserve(KEY)).until).toBeDefined()
    await reservations.giveBack('guesses:test:8', other)
    expect(await reservations.until(KEY)).toBeDefined()
  })

  it('of a process whose clock is fast are no longer than those of others', async () => {
    const { reservations, pass } = reservationWorld(1, 10)
    pass(60 * MINUTE)
    await reservations.reserve(KEY)
    pass(-60 * MINUTE)
    expect((await reservations.reserve(KEY)).until).toBe(Date.now() + 10 * MINUTE)
  })

  it('reject after many tries if the store keeps changing the string', async () => {
    const { transients } = memoryStore()
    let count = 0
    transients.swap = async () => JSON.stringify([[String(++count), 0]])
    const reservations = new Reservations(transients, { count: 1, minutes: 1 })
    await expect(reservations.reserve(KEY)).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})
