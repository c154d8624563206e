import { describe, expect, test } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import { type ExpressHost, startExpressHost } from '../../support/express-host.ts'

const ALICE = 2
const settings = { maximum: 5 }

/** An application that gets sessmgr while two browsers of alice, and one of bob, are signed in. */
async function addSessmgr(): Promise<{ host: ExpressHost; alice: Browser[]; bob: Browser }> {
  const before = await startExpressHost({ unlimited: true })
  const browsers = [await before.signedIn('alice'), await before.signedIn('alice'), await before.signedIn('bob')]
  const host = await startExpressHost({ store: before.store.twin(), settings })
  const [one, two, bob] = browsers.map((browser) => browser.copy(host.origin)) as [Browser, Browser, Browser]
  return { host, alice: [one, two], bob }
}

describe('rule 47', () => {
  test('ending all sessions of a user ends those, too, that nobody has used since sessmgr is there', async () => {
    const { host, alice, bob } = await addSessmgr()
    expect(await host.limiter.sessions.endAll(ALICE)).toBe(0)
    const later = await host.signedIn('alice')
    for (const browser of alice) {
      expect((await browser.get('/state')).json()).toMatchObject({ ended: { reason: 'ended' } })
      expect(await browser.me()).toBe(401)
    }
    expect([await later.me(), await bob.me()]).toEqual([200, 200])
    expect(await host.limiter.sessions.count(ALICE)).toBe(1)
    expect(host.store.ids()).toHaveLength(2)
    expect((await alice[0]?.login('alice'))?.status).toBe(200)
  })

  test('ending all others does so, and keeps the one', async () => {
    const { host, alice, bob } = await addSessmgr()
    const [kept, dormant] = alice as [Browser, Browser]
    expect(await kept.me()).toBe(200)
    const known = await host.signedIn('alice')
    expect(await host.limiter.sessions.endOthers(ALICE, tokenOf(kept.sessionId() ?? ''))).toBe(1)
    const browsers = [kept, known, dormant, bob]
    expect(await Promise.all(browsers.map((browser) => browser.me()))).toEqual([200, 401, 401, 200])
  })
})

test('rule 47: ending all sessions of a user ends those, too, that a memory store has forgotten in a restart', async () => {
  const before = await startExpressHost({ settings })
  const browser = await before.signedIn('alice')
  const host = await startExpressHost({ store: before.store.twin(), settings })
  expect(await host.limiter.sessions.endAll(ALICE)).toBe(0)
  expect(await browser.copy(host.origin).me()).toBe(401)
})
