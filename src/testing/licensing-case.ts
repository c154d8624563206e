import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { Activation, LicensingProvider, RawAddon, SiteIdentity } from '../features/addons/licensing.ts'
import { type LicensingCode, LicensingError } from '../features/addons/licensing.ts'
import { VERSION } from '../ground/constants.ts'

/** A licensing provider under test, with data about its backend. */
export interface LicensingUnderTest {
  /** The provider. */
  readonly provider: LicensingProvider
  /** The add-ons of the catalogue, in order. At least one must be premium, and one free. */
  readonly catalogue: readonly Pick<RawAddon, 'id' | 'slug' | 'title' | 'is_premium'>[]
  /** Product ids of two premium add-ons, or of one premium add-on and one unlisted product. */
  readonly products: readonly [number, number]
  /** Issues a key that is valid for a product on at least one site. */
  issue(productId: number): Promise<string>
  /** Keys that must be refused for the first product, each with the expected code. One key must have expired. */
  readonly refused: Readonly<
    Record<
      string,
      {
        /** The license key. */
        key: string
        /** The code that `activate` must reject with. */
        code: LicensingCode
      }
    >
  >
  /** Revokes an activated license at the backend. */
  revoke(key: string): Promise<void>
  /** Strings that must never appear anywhere, such as secrets of the backend. */
  readonly secrets: readonly string[]
  /** Closes what `create` opened. Called once, even if the case fails. */
  close(): Promise<void>
}

/** A case of the contract: a name, and a test that gets a provider with a new backend. */
export type LicensingCase = readonly [name: string, body: (test: LicensingUnderTest) => Promise<void>]

/** The site that the cases use. */
export const SITE: SiteIdentity = {
  uid: '0123456789abcdef0123456789abcdef',
  url: 'https://shop.example.test',
  title: 'The Shop',
  version: VERSION,
}

/** Activates a valid key for a product. */
export async function activated(test: LicensingUnderTest, productId = test.products[0]): Promise<Activation> {
  return test.provider.activate({ productId, key: await test.issue(productId), site: SITE })
}

/** Expects a call to be refused with one of these codes, and returns the error. */
export async function refusalOf(
  call: () => Promise<unknown>,
  codes?: readonly LicensingCode[],
): Promise<LicensingError> {
  const error = await call().then(
    () => assert.fail('The call was not refused.'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof LicensingError, `${inspect(error)} is no LicensingError`)
  if (codes) assert.ok((codes as readonly string[]).includes(error.code), `the code is ${error.code}`)
  return error
}

/** Expects that none of these strings appears in any readable part of a value. */
export function assertHidden(value: unknown, texts: readonly string[]): void {
  const shown = inspect(value, { depth: 12, showHidden: true, maxStringLength: null, maxArrayLength: null })
  const stack = value instanceof Error ? `${value.stack}${value.message}` : ''
  for (const text of texts) {
    assert.ok(text.length > 7, 'a test secret is too short to be recognized')
    assert.ok(!`${shown}${stack}${JSON.stringify(value)}`.includes(text), 'a secret can be read')
  }
}
