import * as z from 'zod/mini'

/** `typ` of a signed license. */
export const LICENSE_TYPE = 'lic+jwt'
/** Default audience of licenses and revocation lists. */
export const DEFAULT_AUDIENCE = 'sessmgr'

const seconds = z.int('must be Unix seconds').check(z.minimum(0, 'must be Unix seconds'))
const text = z.string('must be a string').check(z.minLength(1, 'must not be empty'))

const PRODUCT_ID = 'must be a product id, a positive integer'
/** The product id of an add-on. */
export const productId = z.int(PRODUCT_ID).check(z.minimum(1, PRODUCT_ID))

/** Claims of a license. Times are in Unix seconds. */
export const licenseClaims = z.object({
  /** The vendor. */
  iss: text,
  aud: text,
  /** Id of the license. */
  sub: text,
  /** Product id. */
  pid: productId,
  iat: seconds,
  nbf: z.optional(seconds),
  /** Null if the license never expires. */
  exp: z.nullable(seconds),
  /** Number of sites; null if unlimited. */
  quota: z.nullable(z.int('must be a whole number').check(z.minimum(1, 'must be 1 or more'))),
  /** What the license includes. */
  ent: z.array(text),
  /** Host names that the license is bound to. */
  sites: z.optional(z.array(text)),
  /** Id of this key, for revocation. */
  jti: text,
})

/** Claims of a license. Times are in Unix seconds. */
export type LicenseClaims = z.infer<typeof licenseClaims>
