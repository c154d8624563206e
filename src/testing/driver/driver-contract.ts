import { registerCase } from '../register-case.ts'
import type { DriverUnderTest } from './driver-case.ts'
import { rowContract } from './row-contract.ts'
import { rowLifeContract } from './row-life-contract.ts'

/** What the suite needs from the test runner and from the author of the driver. */
export interface DocumentDriverContractOptions {
  /** Opens a group of cases: that of the test runner. */
  describe(name: string, body: () => void): unknown
  /** Registers one case: that of the test runner. */
  it(name: string, body: () => Promise<void>): unknown
  /** Makes a driver on an empty table. Called once for each case. */
  create(): Promise<DriverUnderTest>
}

/**
 * Registers the cases that every driver of `documentStore()` must pass, with any test runner that has `describe` and `it`.
 *
 * @example
 * registerDocumentDriverContract({ describe, it, create: async () => myDriverUnderTest() })
 */
export function registerDocumentDriverContract({ describe, it, create }: DocumentDriverContractOptions): void {
  for (const [group, cases] of Object.entries({ rows: rowContract, 'life of rows': rowLifeContract })) {
    describe(group, () => {
      for (const [name, body] of cases) registerCase(it, create, name, body)
    })
  }
}
