import type { SessmgrStore } from '../../stores/store.ts'

/** A store under test. */
export interface StoreUnderTest {
  /** The store, empty. */
  readonly store: SessmgrStore
  /** Opens the same data again, as another process would. A store for one process returns the same object. */
  another(): Promise<SessmgrStore>
  /**
   * Waits until at least this many milliseconds, up to ten minutes, have passed for the store. Should move its clock.
   */
  pass(ms: number): Promise<void>
  /** Closes everything that `create` and `another` opened. Called once, even if the case fails. */
  close(): Promise<void>
}

/** A case of the contract: a name, and the test of an empty store; marked if minutes pass in it. */
export type StoreCase = readonly [name: string, body: (test: StoreUnderTest) => Promise<void>, lasts?: 'minutes']
