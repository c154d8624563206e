import type { LicensingCode } from '../../features/addons/licensing/licensing-error.ts'
import type { LicensingProvider, RawAddon } from '../../features/addons/licensing/licensing-provider.ts'
import { registerCase } from '../register-case.ts'
import { activationContract } from './licensing-activation-contract.ts'
import { catalogueContract } from './licensing-catalogue-contract.ts'
import { refusalContract } from './licensing-refusal-contract.ts'
import { validationContract } from './licensing-validation-contract.ts'

/** A licensing provider under test, with what its backend knows. */
export interface LicensingUnderTest {
  /** The provider. */
  readonly provider: LicensingProvider
  /** What the catalogue holds, in its order: two add-ons at least, one of them premium, one free. */
  readonly catalogue: readonly Pick<RawAddon, 'id' | 'slug' | 'title' | 'is_premium'>[]
  /** Product ids of two premium add-ons, or of one and of a product that is not listed. */
  readonly products: readonly [number, number]
  /** Issues a key that is good for a product, on one site at least. */
  issue(productId: number): Promise<string>
  /** Keys for the first product that must be refused, with the code that says why: one that has expired among them. */
  readonly refused: Readonly<
    Record<
      string,
      {
        /** The licence key. */
        key: string
        /** The code that `activate` must reject with. */
        code: LicensingCode
      }
    >
  >
  /** Takes an activated licence back at the backend. */
  revoke(key: string): Promise<void>
  /** Texts that must never be seen, such as secrets of the backend. */
  readonly secrets: readonly string[]
  /** Closes what `create` opened. Called once, also when the case fails. */
  close(): Promise<void>
}

/** What the suite needs from the test runner and from the author of the provider. */
export interface LicensingContractOptions {
  /** Opens a group of cases: that of the test runner. */
  describe(name: string, body: () => void): unknown
  /** Registers one case: that of the test runner. */
  it(name: string, body: () => Promise<void>): unknown
  /** Starts a provider with a fresh backend. Called once for each case. */
  create(): Promise<LicensingUnderTest>
  /** Whether the provider has `validate`. @default true */
  validates?: boolean
}

/** A case of the contract: a name, and what must hold for a provider with a fresh backend. */
export type LicensingCase = readonly [name: string, body: (test: LicensingUnderTest) => Promise<void>]

/**
 * Registers the cases that every licensing provider must pass, with any test runner that has `describe` and `it`.
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
