import { registerCase } from '../register-case.ts'
import { activationContract } from './licensing-activation-contract.ts'
import type { LicensingUnderTest } from './licensing-case.ts'
import { catalogueContract } from './licensing-catalogue-contract.ts'
import { refusalContract } from './licensing-refusal-contract.ts'
import { validationContract } from './licensing-validation-contract.ts'

/** Options of the suite. */
export interface LicensingContractOptions {
  /** `describe` of your test runner. */
  describe(name: string, body: () => void): unknown
  /** `it` of your test runner. */
  it(name: string, body: () => Promise<void>): unknown
  /** Creates a provider with a new backend. Called once per case. */
  create(): Promise<LicensingUnderTest>
  /** Whether the provider has `validate`. @default true */
  validates?: boolean
}

/**
 * Registers the cases that every licensing provider must pass. Works with any test runner that has `describe` and `it`.
 *
 * @example
 * registerLicensingContract({ describe, it, create: async () => myProviderUnderTest() })
 */
export function registerLicensingContract(options: LicensingContractOptions): void {
  const { describe, it, create, validates = true } = options
  const groups = {
    catalogue: catalogueContract,
    activation: activationContract,
    refusals: refusalContract,
    ...(validates ? { validation: validationContract } : {}),
  }
  for (const [group, cases] of Object.entries(groups)) {
    describe(group, () => {
      for (const [name, body] of cases) registerCase(it, create, name, body)
    })
  }
}
