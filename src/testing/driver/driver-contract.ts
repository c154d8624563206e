import { registerCase } from '../register-case.ts'
import type { DriverUnderTest } from './driver-case.ts'
import { rowContract } from './row-contract.ts'
import { rowLifeContract } from './row-life-contract.ts'

/** Options of the suite. */
export interface DocumentDriverContractOptions {
  /** `describe` of your test runner. */
  describe(name: string, body: () => void): unknown
  /** `it` of your test runner. */
  it(name: string, body: () => Promise<void>): unknown
  /** Creates a driver on an empty table. Called once per case. */
  create(): Promise<DriverUnderTest>
}

/**
 * Registers the cases that every driver for `documentStore()` must pass. Works with any test runner that has `describe`
 * and `it`.
 *
 * @example
 * registerDocumentDriverContract({ describe, it, create: async () => myDriverUnderTest() })
 */
export function registerDocumentDriverContract({ describe, it, create }: DocumentDriverContractOptions): void {
  for (const [group, cases] of Object.entries({ rows: rowContract, 'expiry of rows': rowLifeContract })) {
    describe(group, () => {
      for (const [name, body] of cases) registerCase(it, create, name, body)
    })
  }
}
