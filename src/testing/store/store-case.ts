import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessmgrStore } from '../../stores/store.ts'

/** A store under test. */
export interface StoreUnderTest {
  /** The store, empty. */
  readonly store: SessmgrStore
  /** Opens the same data again, as another process would. Stores for a single process return the same object. */
  another(): Promise<SessmgrStore>
  /** Waits for at least `ms` milliseconds, up to ten minutes. If possible, move the store's clock forward instead. */
  pass(ms: number): Promise<void>
  /** Closes everything that `create` and `another` opened. Called once, even if the case fails. */
  close(): Promise<void>
}

/** A case of the contract: a name, a test that gets an empty store, and a mark if the test takes minutes. */
export type StoreCase = readonly [name: string, body: (test: StoreUnderTest) => Promise<void>, lasts?: 'minutes']

/** Moves the clock of a store. Fails if the store's clock cannot be moved, because waiting would take minutes. */
export async function passMinutes(pass: StoreUnderTest['pass'], ms: number): Promise<void> {
  const waits = await Promise.race([pass(ms), sleep(3_000, 'waits', { ref: false })])
  const advice =
    'pass() waits in real time. Let it move the clock of the store, or skip the cases that take minutes with realTime: true'
  assert.notEqual(waits, 'waits', advice)
}
