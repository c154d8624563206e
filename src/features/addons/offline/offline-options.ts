import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type Clock, systemClock } from '../../../ground/clock.ts'
import { invalidOption } from '../../../ground/invalid-option.ts'
import { requireKnown, requireObject, requireWhole } from '../../../ground/option-checks.ts'
import type { RawAddon } from '../licensing/licensing-provider.ts'
import type { Ed25519Jwk } from './ed25519-jwk.ts'
import { DEFAULT_AUDIENCE } from './license-claims.ts'
import { type OfflineAddon, offlineCatalogue } from './offline-catalogue.ts'
import type { PublicKeys } from './signed-text.ts'

/** Options of offlineLicensing(). */
export interface OfflineLicensingOptions {
  /** The add-ons, or the path of a JSON file that contains them as an array. @default none */
  catalogue?: string | readonly OfflineAddon[] | undefined
  /** The vendor's Ed25519 public keys by `kid`, as PEM or JWK. @default none: no license is valid */
  keys?: Readonly<Record<string, string | Ed25519Jwk>> | undefined
  /** The vendor, exactly as named in its licenses. Required with `keys`. */
  issuer?: string | undefined
  /** Audience of the licenses. @default 'sessmgr' */
  audience?: string | undefined
  /**
   * The vendor's signed revocation list, as the path of a file or a function that returns its content. @default none
   */
  revocations?: string | (() => string | Promise<string>) | undefined
  /**
   * Maximum age of the revocation list in days, from 1 to 3650. If the list is older, no license is valid. @default 30
   */
  revocationsMaxAgeDays?: number | undefined
  /** Returns the time. @default the clock of this machine */
  clock?: Clock | undefined
}

export interface ResolvedOfflineOptions {
  readonly readCatalogue: () => Promise<readonly RawAddon[]>
  readonly keys: PublicKeys
  readonly issuer: string
  readonly audience: string
  readonly readRevocations: (() => Promise<string>) | undefined
  /** In seconds. */
  readonly revocationsMaxAge: number
  readonly clock: Clock
}

const OPTIONS = [
  'catalogue',
  'keys',
  'issuer',
  'audience',
  'revocations',
  'revocationsMaxAgeDays',
  'clock',
] as const satisfies readonly (keyof OfflineLicensingOptions)[]

const DAY_SECONDS = 24 * 60 * 60

/**
 * Checks the options.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function resolveOfflineOptions(options: OfflineLicensingOptions): ResolvedOfflineOptions {
  requireObject('The options of offlineLicensing()', options)
  requireKnown(options, OPTIONS)
  const {
    catalogue = [],
    keys: given = {},
    issuer = '',
    audience = DEFAULT_AUDIENCE,
    revocations,
    revocationsMaxAgeDays: days = 30,
    clock = systemClock,
  } = options
  const keys = checkPublicKeys(given)
  for (const [name, value] of Object.entries({ issuer, audience })) {
    if (typeof value !== 'string') throw invalidOption(`"${name}" must be a string`)
  }
  if (keys.size > 0 && issuer === '')
    throw invalidOption('"keys" needs "issuer": the vendor, exactly as named in its licenses')
  if (audience === '') throw invalidOption('"audience" must not be empty')
  requireWhole('revocationsMaxAgeDays', days, 1, 3650)
  if (typeof clock?.now !== 'function') throw invalidOption('"clock" must have the method now()')
  return {
    readCatalogue: offlineCatalogue(catalogue),
    keys,
    issuer,
    audience,
    readRevocations: revocationReader(revocations),
    revocationsMaxAge: days * DAY_SECONDS,
    clock,
  }
}

function revocationReader(source: OfflineLicensingOptions['revocations']): (() => Promise<string>) | undefined {
  if (source === undefined) return undefined
  if (typeof source === 'function') return async () => source()
  if (typeof source === 'string' && source !== '') return () => readFile(source, 'utf8')
  throw invalidOption('"revocations" must be the path of a file, or a function that returns the signed list')
}

/**
 * Reads the public keys of a vendor.
 *
 * @throws SessmgrError `invalid_option` that names the invalid key.
 */
export function checkPublicKeys(given: Readonly<Record<string, string | Ed25519Jwk>>): PublicKeys {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidOption('"keys" must be an object of public keys by their kid')
  }
  return new Map(Object.entries(given).map(([kid, key]) => [kid, checkPublicKey(kid, key)]))
}

function checkPublicKey(kid: string, key: string | Ed25519Jwk): KeyObject {
  const isPrivate = typeof key === 'string' ? key.includes('PRIVATE KEY') : Object(key).d !== undefined
  if (isPrivate)
    throw invalidOption(`"keys.${kid}" is a private key. Only the vendor should have it; pass the public key`)
  try {
    const read = typeof key === 'string' ? createPublicKey(key) : createPublicKey({ key, format: 'jwk' })
    if (read.asymmetricKeyType === 'ed25519') return read
  } catch {}
  throw invalidOption(`"keys.${kid}" must be an Ed25519 public key, as PEM or JWK`)
}
