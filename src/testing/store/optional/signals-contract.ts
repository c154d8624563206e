import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StoreSignals } from '../../../stores/store-signals.ts'
import type { StoreCase } from '../store-case.ts'

const WAIT_MS = 30_000

/** Records messages, and waits for one. */
async function listen(signals: StoreSignals) {
  const heard: string[] = []
  const stop = await signals.subscribe({ heard: (message) => void heard.push(message), missed() {} })
  const hears = async (message: string) => {
    for (const end = Date.now() + WAIT_MS; !heard.includes(message); await sleep(5)) {
      assert.ok(Date.now() < end, `a message did not arrive within ${WAIT_MS} ms`)
    }
  }
  return { heard, stop, hears }
}

/** Requirements on signals, which are optional. */
export const signalsContract: readonly StoreCase[] = [
  [
    'passes messages to every subscriber, of this connection and of others',
    async ({ store, another }) => {
      const other = await another()
      if (!store.signals || !other.signals) return
      const listeners = [await listen(store.signals), await listen(store.signals), await listen(other.signals)]
      await store.signals.publish('from one')
      await other.signals.publish('from another')
      for (const { hears } of listeners) await Promise.all([hears('from one'), hears('from another')])
      for (const { stop } of listeners) await stop()
    },
  ],
  [
    'passes on messages of 7,000 characters',
    async ({ store }) => {
      if (!store.signals) return
      const { hears, stop } = await listen(store.signals)
      const message = 'a1 '.repeat(7000).slice(0, 7000)
      await store.signals.publish(message)
      await hears(message)
      await stop()
    },
  ],
  [
    'passes nothing to a subscriber that has stopped, and stops twice without harm',
    async ({ store }) => {
      if (!store.signals) return
      const [first, second] = [await listen(store.signals), await listen(store.signals)]
      await first.stop()
      await first.stop()
      await store.signals.publish('late')
      await second.hears('late')
      assert.deepEqual(first.heard, [])
      await second.stop()
    },
  ],
  [
    'publishes without any subscriber',
    async ({ store }) => {
      await store.signals?.publish('to nobody')
    },
  ],
]
