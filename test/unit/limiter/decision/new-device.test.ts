import { expect, it } from 'vitest'
import { documentStore } from '../../../../src/document.ts'
import { memoryStore } from '../../../../src/stores/memory-store.ts'
import { type FakeClock, fakeClock } from '../../../../src/testing/fake-clock.ts'
import { createLimiterWorld } from '../../../support/limiter-world.ts'
import { MemoryRows } from '../../../support/memory-driver.ts'
import { recordActions } from '../../../support/record-actions.ts'

const DAY = 86_400_000

/** A limiter that records which devices it announces. */
function listen(open = (clock: FakeClock) => memoryStore({ clock })) {
  const clock = fakeClock(1_700_000_000_000)
  const store = open(clock)
  const world = createLimiterWorld({ clock, store, settings: { maximum: 50, logic: 'block' } })
  const events = recordActions(world.limiter.hooks, ['sessmgr_new_device'])
  const deviceOf = (name: string) => ({ device: name === '' ? null : name.padEnd(16, '-') })
  return {
    ...world,
    store,
    login: (name: string, userId = 7) => world.login(userId, deviceOf(name)),
    /** The devices that were announced; the first one of a user with an exclamation mark. */
    announced: () =>
      events.map(([, session, about]) => {
        const name = (session as { device: string }).device.replaceAll('-', '')
        return (about as { firstEver: boolean }).firstEver ? `${name}!` : name
      }),
  }
}

it('a new device is announced once for each user, and one that a refused login had, or none, is not', async () => {
  for (const open of [undefined, (clock: FakeClock) => documentStore(new MemoryRows(clock).driver())]) {
    const { login, limiter, announced } = listen(open)
    for (const name of ['home', 'home', 'phone', 'home', 'phone']) await login(name)
    await limiter.sessions.endAll(7)
    for (const name of ['phone', 'home', '']) await login(name)
    expect(announced()).toEqual(['home!', 'phone'])
    await login('home', 8)
    await limiter.settings.update({ maximum: 1 })
    expect(await login('work', 8)).toBeUndefined()
    expect(announced()).toEqual(['home!', 'phone', 'home!'])
  }
})

it('a new device is announced once if many logins come at once', async () => {
  const { login, limiter, announced } = listen()
  await Promise.all(Array.from({ length: 12 }, (_, index) => login(index % 2 === 0 ? 'home' : 'phone')))
  await limiter.sessions.endAll(7)
  for (const name of ['home', 'phone']) await login(name)
  expect(announced().toSorted()).toEqual(['home!', 'phone'])
})

it('a device is remembered for 400 days after its last login, and no longer because the clock was ahead', async () => {
  const { login, announced, clock } = listen()
  for (const days of [0, 300, 399]) {
    clock.advance(days * DAY)
    await login('home')
  }
  expect(announced()).toEqual(['home!'])
  clock.advance(402 * DAY)
  await login('home')
  expect(announced()).toEqual(['home!', 'home!'])
  clock.advance(3000 * DAY)
  await login('ahead')
  clock.advance(-3000 * DAY)
  await login('home')
  clock.advance(402 * DAY)
  await login('ahead')
  expect(announced().filter((name) => name.startsWith('ahead'))).toHaveLength(2)
})

it('a user has the 20 last devices, and those of live sessions', async () => {
  const { login, limiter, announced } = listen()
  for (let device = 0; device < 21; device++) await login(`d${device}`)
  await login('d0')
  await limiter.sessions.endAll(7)
  // The login of d0 has pushed out d1.
  for (const name of ['d0', 'd20', 'd2']) await login(name)
  expect(announced()).toHaveLength(21)
  await login('d1')
  expect(announced()).toHaveLength(22)
})
