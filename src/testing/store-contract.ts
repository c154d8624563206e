import type { SessmgrStore } from '../stores/store.ts'
import { epochContract } from './epoch-contract.ts'
import { optionContract } from './option-contract.ts'
import { passwordContract } from './password-contract.ts'
import { registryContract } from './registry-contract.ts'
import { transientContract } from './transient-contract.ts'

/** A store under test. */
export interface StoreUnderTest {
  readonly store: SessmgrStore
  /** Opens the same memory once more, as another process would. A store for one process returns the same object. */
  another(): Promise<SessmgrStore>
  /** Lets at least this many milliseconds pass for the store. */
  pass(ms: number): Promise<void>
  close(): Promise<void>
}

/** What the suite needs from the test runner and from the author of the store. */
export interface StoreContractOptions {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
  /** Makes an empty store. Called once for each case. */
  create(): Promise<StoreUnderTest>
}

/** A case of the contract: a name, and what must hold for a fresh store. */
export type StoreCase = readonly [name: string, body: (test: StoreUnderTest) => Promise<void>]

/**
 * Registers the cases that every store must pass, with any test runner that has `describe` and `it`.
 *
 * @example
 * registerStoreContract({ describe, it, create: async () => myStoreUnderTest() })
 */
export function registerStoreContract({ describe, it, create }: StoreContractOptions): void {
  const groups = {
    'session registry': registryContract,
    'logout epoch': epochContract,
    options: optionContract,
    'application passwords': passwordContract,
    transients: transientContract,
  }
  for (const [group, cases] of Object.entries(groups)) {
    describe(group, () => {
      for (const [name, body] of cases) {
        it(name, async () => {
          const test = await create()
          try {
            await body(test)
          } finally {
            await test.close()
          }
        })
      }
    })
  }
}
