import { describe, expect, it } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import {
  CHOICES,
  CODES,
  type Counted,
  countPassword,
  countUse,
  giveBack,
  nextUse,
  type StateChange,
  type Use,
} from '../../../src/sessions/user-state.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { MemoryRows } from '../../support/memory-driver.ts'

const MINUTE = 60_000
const FIVE = { count: 5, minutes: 10 }
const isCounted = ({ until }: Counted) => until === undefined

function countWorld() {
  const clock = fakeClock(1_700_000_000_000)
  const { sessions } = documentStore(new MemoryRows(clock).driver())
  const change = <Result>(step: StateChange<Result>) => sessions.changeState(7, step)
  return {
    clock,
    sessions,
    change,
    async login(sessionId: string) {
      const read = await sessions.read(7)
      const client = { ip: null, userAgent: null, device: null, generation: 0 }
      await sessions.commit(7, read, { admit: { sessionId, ttlMs: 1440 * MINUTE, ...client }, end: [] })
      return tokenOf(sessionId)
    },
    /** Guesses passwords at once in a session. Returns how many may be checked. */
    async guess(token: string, times: number) {
      const all = await Promise.all(Array.from({ length: times }, () => change(countPassword(token, FIVE))))
      return all.filter(isCounted).length
    },
  }
}

// In a memory store, it is counted over HTTP: behaviour/choice/guesses.check.ts.
describe('what is counted', () => {
  it('is allowed again one by one, each when its own period is over, to the millisecond', async () => {
    const { change, clock } = countWorld()
    const twice = { count: 2, minutes: 60 }
    const first = clock.now()
    await change(countUse(CHOICES, twice))
    expect(await change(nextUse(CHOICES, twice))).toBeUndefined()
    clock.advance(10 * MINUTE)
    await change(countUse(CHOICES, twice))
    expect(await change(countUse(CHOICES, twice))).toEqual({ until: first + 60 * MINUTE })
    expect(await change(nextUse(CODES, twice))).toBeUndefined()
    clock.advance(50 * MINUTE - 1)
    expect(await change(nextUse(CHOICES, twice))).toBe(first + 60 * MINUTE)
    clock.advance(1)
    expect(await change(nextUse(CHOICES, twice))).toBeUndefined()
    await change(countUse(CHOICES, twice))
    expect(await change(nextUse(CHOICES, twice))).toBe(first + 70 * MINUTE)
  })

  it('is exactly as much as is allowed of 100 calls at once, and refused calls do not extend the period', async () => {
    const { change, clock } = countWorld()
    const all = await Promise.all(Array.from({ length: 100 }, () => change(countUse(CODES, FIVE))))
    expect(all.filter(isCounted)).toHaveLength(5)
    clock.advance(9 * MINUTE)
    expect(await change(countUse(CODES, FIVE))).toEqual({ until: clock.now() + MINUTE })
    clock.advance(MINUTE)
    expect(isCounted(await change(countUse(CODES, FIVE)))).toBe(true)
  })

  it('is given back once', async () => {
    const { change, clock } = countWorld()
    const once = { count: 1, minutes: 10 }
    const one = (await change(countUse(CHOICES, once))) as Use
    await Promise.all([change(giveBack(one)), change(giveBack(one))])
    clock.advance(1)
    const other = (await change(countUse(CHOICES, once))) as Use
    await change(giveBack(one))
    await change(giveBack({ ...other, name: CODES }))
    expect(await change(nextUse(CHOICES, once))).toBe(other.at + 10 * MINUTE)
  })

  it('counts as now if the clock was ahead', async () => {
    const { change, clock } = countWorld()
    const once = { count: 1, minutes: 10 }
    clock.advance(60 * MINUTE)
    await change(countUse(CODES, once))
    clock.advance(-60 * MINUTE)
    expect(await change(countUse(CODES, once))).toEqual({ until: clock.now() + 10 * MINUTE })
  })

  it('rule 85: is five passwords in a session and twenty of a user; older sessions have three for sure', async () => {
    const { login, guess, clock } = countWorld()
    const old = await login('old')
    clock.advance(10 * MINUTE)
    const young = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => login(id)))
    const [a = '', b = '', c = '', d = '', e = ''] = young
    expect([await guess(a, 9), await guess(b, 9), await guess(c, 9), await guess(d, 9)]).toEqual([5, 5, 5, 5])
    // The user's twenty are used up, by whoever has cookies of four sessions, or knows the password.
    expect([await guess(e, 1), await guess(old, 9), await guess(old, 1)]).toEqual([0, 3, 0])
    clock.advance(10 * MINUTE)
    expect([await guess(old, 9), await guess(e, 9)]).toEqual([5, 5])
  })

  it('rule 85: tells when a password may be tried again, in the session and of the user', async () => {
    const { change, login, guess, clock } = countWorld()
    const [one, two] = [await login('one'), await login('two')]
    const first = clock.now()
    await guess(one, 5)
    clock.advance(MINUTE)
    await guess(two, 5)
    expect(await change(countPassword(one, FIVE))).toEqual({ until: first + 10 * MINUTE })
    expect(await change(countPassword(two, FIVE))).toEqual({ until: first + 11 * MINUTE })
    for (const id of ['three', 'four']) await guess(await login(id), 5)
    expect(await change(countPassword(two, FIVE))).toEqual({ until: first + 11 * MINUTE })
    expect(await change(countPassword(tokenOf('unknown'), FIVE))).toEqual({ until: first + 10 * MINUTE })
  })

  it('rule 85: does not lose a right password to wrong ones that come at the same time', async () => {
    const { change, login, guess } = countWorld()
    const token = await login('a')
    const right = (await change(countPassword(token, FIVE))) as Use
    await Promise.all([change(giveBack(right)), guess(token, 9)])
    expect(await guess(token, 1)).toBe(0)
  })

  it('stays when sessions end, but choices restart when all of them end', async () => {
    const { change, sessions, login } = countWorld()
    const once = { count: 1, minutes: 60 }
    const isFull = async () => [await change(nextUse(CHOICES, once)), await change(nextUse(CODES, once))].map(Boolean)
    const fill = async () => [await change(countUse(CHOICES, once)), await change(countUse(CODES, once))]
    const token = await login('a')
    await login('b')
    await fill()
    await sessions.end(7, [tokenOf('b')])
    await sessions.endOthers(7, token, true)
    expect(await isFull()).toEqual([true, true])
    await sessions.endOthers(7, token)
    expect(await isFull()).toEqual([false, true])
    await fill()
    await sessions.end(7)
    expect(await isFull()).toEqual([false, true])
    await sessions.erase(7)
    expect(await isFull()).toEqual([false, false])
  })
})
