import type { SessionData } from 'express-session'
import { expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { TestStore } from '../../support/test-store.ts'

/** A session store that answers every write twice, as one that calls back both itself and by its driver. */
class TwiceStore extends TestStore {
  override set(sessionId: string, data: SessionData, callback?: (error?: unknown) => void): void {
    super.set(sessionId, data)
    callback?.()
    callback?.()
  }
}

test('rule 5: a login stays where the session store answers its writes twice', async () => {
  const host = await startExpressHost({ store: new TwiceStore(), settings: { maximum: 1, logic: 'block' } })
  const laptop = await host.signedIn('alice')
  expect((await host.browser().login('alice')).status).toBe(403)
  expect([await laptop.me(), await host.limiter.sessions.count(2)]).toEqual([200, 1])
})
