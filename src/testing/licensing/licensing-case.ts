import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { type LicensingCode, LicensingError } from '../../features/addons/licensing/licensing-error.ts'
import type {
  Activation,
  LicensingProvider,
  RawAddon,
  SiteIdentity,
} from '../../features/addons/licensing/licensing-provider.ts'
import { VERSION } from '../../ground/constants.ts'

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

/** A case of the contract: a name, and what must hold for a provider with a fresh backend. */
export type LicensingCase = readonly [name: string, body: (test: LicensingUnderTest) => Promise<void>]

/** The site of the contract's cases. */
export const SITE: SiteIdentity = {
  uid: '0123456789abcdef0123456789abcdef',
  url: 'https://shop.example.test',
  title: 'The Shop',
  version: VERSION,
}

/** Activates a good key for a product. */
export async function activated(test: LicensingUnderTest, productId = test.products[0]): Promise<Activation> {
  return test.provider.activate({ productId, key: await test.issue(productId), site: SITE })
}

/** Expects a call to be refused with one of some codes, and gives the error. */
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

/** Expects a value, in all that can be read of it, to hold none of some texts. */
export function assertHidden(value: unknown, texts: readonly string[]): void {
  const shown = inspect(value, { depth: 12, showHidden: true, maxStringLength: null, maxArrayLength: null })
  const stack = value instanceof Error ? `${value.stack}${value.message}` : ''
  for (const text of texts) {
    assert.ok(text.length > 7, 'a text that is to stay hidden is long enough to tell')
    assert.ok(!`${shown}${stack}${JSON.stringify(value)}`.includes(text), 'something secret can be read')
  }
}
