import { describe, expect, it } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { memoryStore } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { MemoryRows } from '../../support/memory-driver.ts'

const YEAR = 365 * 86_400_000
const MINUTE = 60_000

describe.each(['a database', 'memory'])("a year's jump of the clock, and back, with a store in %s", (place) => {
  it('delays nobody in `block`, and lengthens no later session', async () => {
    const clock = fakeClock()
    const store =
      place === 'memory'
        ? memoryStore({ clock })
        : documentStore(new MemoryRows(clock).driver(), { deadlineMs: 60_000 })
    const settings = { maximum: 1, logic: 'block' }
    const session = { cookie: { maxAge: 10 * MINUTE } }
    const host = await startExpressHost({ settings, session, sessmgr: { store } })
    clock.advance(YEAR)
    await host.signedIn('alice')
    clock.advance(-YEAR)
    expect((await host.browser().login('alice')).status).not.toBe(200)
    clock.advance(11 * MINUTE)
    const second = await host.signedIn('alice')
    const [record] = await host.limiter.sessions.list(2)
    const now = clock.now()
    expect(record?.createdAt).toBe(now)
    expect(Math.round((Number(record?.expiresAt) - now) / MINUTE)).toBe(10)
    expect(await second.me()).toBe(200)
    clock.advance(11 * MINUTE)
    expect(await host.limiter.sessions.list(2)).toEqual([])
  })
})
