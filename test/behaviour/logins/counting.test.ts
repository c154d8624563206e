import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { startExpressHost } from '../../support/express-host.ts'

describe('rule 6: only live sessions count', () => {
  test('one that a site-wide logout has made stale does not', async () => {
    const host = await startExpressHost({ settings: { maximum: 1, logic: 'block' } })
    const laptop = await host.signedIn('alice')
    await host.limiter.sessions.logoutAllUsers()
    expect(await host.limiter.sessions.count(2)).toBe(0)
    const phone = host.browser()
    expect((await phone.login('alice')).status).toBe(200)
    expect([await laptop.me(), await phone.me()]).toEqual([401, 200])
  })
})

describe('rule 7: a login in a browser that holds a session of the same user', () => {
  test('becomes the youngest session', async () => {
    const host = await startExpressHost({ settings: { maximum: 2, logic: 'logout_oldest' } })
    const laptop = await host.signedIn('alice')
    const phone = await host.signedIn('alice')
    await laptop.login('alice')
    await host.signedIn('alice')
    expect([await laptop.me(), await phone.me()]).toEqual([200, 401])
  })

  test('is refused when the others alone reach a lowered limit, and keeps what it holds', async () => {
    const host = await startExpressHost({ settings: { maximum: 3, logic: 'block' } })
    const [laptop] = [await host.signedIn('alice'), await host.signedIn('alice'), await host.signedIn('alice')]
    await host.limiter.settings.update({ maximum: 2 })
    expect((await laptop.login('alice')).status).toBe(403)
    expect(await laptop.me()).toBe(200)
    expect(await host.limiter.sessions.count(2)).toBe(3)
  })
})

test('rule 8: "oldest" is the order of admission, also when a clock runs backwards', async () => {
  const clock = fakeClock()
  const host = await startExpressHost({
    sessmgr: { settings: { maximum: 3, logic: 'logout_oldest' }, store: memoryStore({ clock }) },
  })
  const browsers = []
  for (let login = 0; login < 3; login++) {
    browsers.push(await host.signedIn('alice'))
    clock.advance(-60 * 60_000)
  }
  const sequences = (await host.limiter.sessions.list(2)).map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))

  for (let ended = 1; ended <= 3; ended++) {
    await host.signedIn('alice')
    const states = await Promise.all(browsers.map((browser) => browser.copy().me()))
    expect(states).toEqual([401, 401, 401, 200, 200, 200].slice(3 - ended, 6 - ended))
    clock.advance(-60 * 60_000)
  }
})
