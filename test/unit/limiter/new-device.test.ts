import { describe, expect, it } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import { recordActions } from '../../support/record-actions.ts'

const DAY = 86_400_000

const deviceOf = (name: string) => ({ device: name === '' ? null : name.padEnd(16, '-') })

/** A limiter that records which devices it announces. */
function listen(open: (clock: FakeClock) => SessmgrStore = (clock) => memoryStore({ clock })) {
  const clock = fakeClock(1_700_000_000_000)
  const store = open(clock)
  const world = createLimiterWorld({ clock, store, settings: { maximum: 50, logic: 'block' } })
  const events = recordActions(world.limiter.hooks, ['sessmgr_new_device'])
  return {
    ...world,
    store,
    login: (name: string, userId = 7) => world.login(userId, deviceOf(name)),
    /** The devices that were announced, with whether they were the first one. */
    announced: () =>
      events.map(([, session, about]) => [
        (session as { device: string }).device.replaceAll('-', ''),
        (about as { firstEver: boolean }).firstEver,
      ]),
  }
}

describe.each([
  ['in memory', (clock: FakeClock) => memoryStore({ clock })],
  ['in rows', (clock: FakeClock) => documentStore(new MemoryRows(clock).driver())],
])('a login from a new device, %s', (_, open) => {
  it('is announced once for each device, with its session, and as the first ever at the first', async () => {
    const { login, limiter, announced } = listen(open)
    const expected = [
      ['home', true],
      ['phone', false],
    ]
    for (const name of ['home', 'home', 'phone', 'home', 'phone']) await login(name)
    expect(announced()).toEqual(expected)
    await limiter.sessions.endAll(7)
    for (const name of ['phone', 'home']) await login(name)
    expect(announced()).toEqual(expected)
  })

  it('is one of its user', async () => {
    const { login, announced } = listen(open)
    await login('home', 7)
    await login('home', 8)
    expect(announced()).toEqual([
      ['home', true],
      ['home', true],
    ])
  })

  it('fires nothing without a device, or when the login is refused', async () => {
    const { login, limiter, announced } = listen(open)
    await login('')
    await limiter.settings.update({ maximum: 1 })
    expect(await login('home')).toBeUndefined()
    expect(announced()).toEqual([])
  })

  it('is announced once if many logins come at once', async () => {
    const { login, limiter, announced } = listen(open)
    const names = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? 'home' : 'phone'))
    await Promise.all(names.map((name) => login(name)))
    expect(announced().toSorted()).toEqual([
      ['home', true],
      ['phone', false],
    ])
    await limiter.sessions.endAll(7)
    for (const name of ['home', 'phone']) await login(name)
    expect(announced()).toHaveLength(2)
  })

  it('is remembered for 400 days after the last login, to the day', async () => {
    const { login, announced, clock } = listen(open)
    await login('home')
    clock.advance(300 * DAY)
    await login('home')
    clock.advance(399 * DAY)
    await login('home')
    expect(announced()).toHaveLength(1)
    clock.advance(402 * DAY)
    await login('home')
    expect(announced()).toEqual([
      ['home', true],
      ['home', true],
    ])
  })

  it('is remembered for no longer because the clock was ahead', async () => {
    const { login, announced, clock } = listen(open)
    clock.advance(3000 * DAY)
    await login('home')
    clock.advance(-3000 * DAY)
    await login('phone')
    expect(announced()).toEqual([
      ['home', true],
      ['phone', false],
    ])
    clock.advance(402 * DAY)
    await login('home')
    expect(announced().slice(2)).toEqual([['home', true]])
  })

  it('remembers the 20 last devices, and those of live sessions', async () => {
    const { login, limiter, announced } = listen(open)
    for (let device = 0; device < 21; device++) await login(`d${device}`)
    await login('d0')
    expect(announced()).toHaveLength(21)
    await limiter.sessions.endAll(7)
    // The login of d0 has pushed out d1.
    for (const name of ['d0', 'd20', 'd2']) await login(name)
    expect(announced()).toHaveLength(21)
    await login('d1')
    expect(announced()).toHaveLength(22)
  })

  it('forgets the devices of an erased user', async () => {
    const { login, store, announced, clock } = listen(open)
    await login('home')
    await store.sessions.erase(7)
    clock.advance(4000)
    await login('home')
    expect(announced()).toEqual([
      ['home', true],
      ['home', true],
    ])
  })
})
