import type { SessmgrStore } from '../../stores/store.ts'

/** A store under test. */
export interface StoreUnderTest {
  /** The store, empty. */
  readonly store: SessmgrStore
  /** Opens the same memory once more, as another process would. A store for one process returns the same object. */
  another(): Promise<SessmgrStore>
  /** Lets at least this many milliseconds pass for the store: up to ten minutes, so it moves the store's clock at best. */
  pass(ms: number): Promise<void>
  /** Closes everything that `create` and `another` opened. Called once, also when the case fails. */
  close(): Promise<void>
}

/** A case of the contract: a name, and what must hold for a fresh store; marked if minutes pass in it. */
export type StoreCase = readonly [name: string, body: (test: StoreUnderTest) => Promise<void>, lasts?: 'minutes']
