import { setTimeout } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { SessmgrError } from '../../../src/ground/errors.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { createGate } from '../../support/gates.ts'
import { useInterleavedStores } from '../../support/interleaved-stores.ts'
import type { InterleavedStore } from '../../support/interleavings.ts'
import { TestStore } from '../../support/test-store.ts'

const IDLE_MS = 300_000
const BLOCK = { maximum: 1, logic: 'block' }
const stores = useInterleavedStores()

/** Processes of one application, with the option `device`. */
function application({ open }: InterleavedStore, settings = {}) {
  const sessions = new TestStore()
  return (process: number) =>
    startExpressHost({
      store: sessions.twin(),
      sessmgr: { store: open(process), device: true, settings: { ...BLOCK, ...settings } },
    })
}

describe('in mode block over Redis', () => {
  const openStore = () => stores.Redis?.() as InterleavedStore

  test('an unused session frees its slot for another browser, and its own browser reads why', async () => {
    const store = openStore()
    const start = application(store, { idle_release: IDLE_MS / 1000 })
    const before = await start(0)
    const browser = before.browser()
    expect((await browser.login('bob')).status).toBe(200)
    expect((await before.browser().login('bob')).json()).toMatchObject({ code: 'login_limit_reached' })
    expect(before.errors).toMatchObject([
      { message: expect.stringMatching(/try again at .*: a session unused for 5 minutes makes room\.$/) },
    ])
    await store.pass(IDLE_MS - 60_000)
    const early = await start(1)
    expect((await early.browser().login('bob')).status).not.toBe(200)
    await store.pass(60_000)
    const late = await start(2)
    expect((await late.browser().login('bob')).status).toBe(200)
    expect(await late.limiter.sessions.count(3)).toBe(1)
    expect((await browser.copy(late.origin).get('/state')).json()).toMatchObject({ ended: { cause: { kind: 'idle' } } })
  })
})

test('with a fake clock and touchEvery: 0, a session that is used keeps its slot', async () => {
  const clock = fakeClock()
  const settings = { ...BLOCK, idle_release: 3600 }
  const host = await startExpressHost({ sessmgr: { store: memoryStore({ clock }), touchEvery: 0, settings } })
  const browser = host.browser()
  await browser.login('alice')
  for (let count = 0; count < 7; count++) {
    clock.advance(600_000)
    expect(await browser.me()).toBe(200)
  }
  await vi.waitFor(async () => expect((await host.limiter.sessions.list(2))[0]?.lastSeenAt).toBe(clock.now()))
  expect((await host.browser().login('alice')).json()).toMatchObject({ code: 'login_limit_reached' })
})

test('rule 87: after an outage that is longer than idle_release, a session in use keeps its slot', async () => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const host = await startExpressHost({ sessmgr: { store, settings: { ...BLOCK, idle_release: IDLE_MS / 1000 } } })
  const browser = await host.signedIn('alice')
  const outage = vi.spyOn(store.sessions, 'useOf').mockRejectedValue(new SessmgrError('store_unavailable', 'down'))
  for (let passed = 0; passed <= IDLE_MS; passed += 60_000) {
    clock.advance(60_000)
    expect(await browser.me()).toBe(503)
  }
  outage.mockRestore()
  expect((await host.browser().login('alice')).json()).toMatchObject({ code: 'login_limit_reached' })
  expect(await browser.me()).toBe(200)
})

test('a session whose request is still running is in use, however long it was idle before', async () => {
  const clock = fakeClock()
  const gate = createGate()
  const host = await startExpressHost({
    sessmgr: { store: memoryStore({ clock }), touchEvery: 1, settings: { ...BLOCK, idle_release: IDLE_MS / 1000 } },
    further: ({ app }) => app.get('/slow', (_req, res, next) => void gate.pass().then(() => res.send('done'), next)),
  })
  const laptop = await host.signedIn('alice')
  clock.advance(2 * IDLE_MS)
  // By the process's own clock, which no test moves, the session was used just now. It must be past `touchEvery`.
  await setTimeout(10)
  const running = laptop.get('/slow')
  await gate.arrived
  expect((await host.browser().login('alice')).status).toBe(403)
  gate.open()
  expect((await running).text).toBe('done')
  expect(await laptop.me()).toBe(200)
})
