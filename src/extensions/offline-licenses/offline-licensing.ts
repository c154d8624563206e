import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import * as z from 'zod/mini'
import type { RawAddon, SiteIdentity } from '../../extend.ts'
import { type Clock, systemClock } from '../../ground/clock.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { type Declared, must, requireObject, resolveDeclared, whole } from '../../ground/option-checks.ts'
import { LicensingError, type LicensingProvider } from '../../index.ts'
import {
  DEFAULT_AUDIENCE,
  type Ed25519Jwk,
  judgeLicense,
  type LicenseClaims,
  type LicenseJudgement,
  type PublicKeys,
  productId,
  type RevocationList,
  readRevocations,
} from './signed-license.ts'

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

const text = must('be a string', (value) => typeof value === 'string')

const OPTIONS = {
  catalogue: [(_name, source) => void offlineCatalogue(source), []],
  keys: [(_name, keys) => void checkPublicKeys(keys), {}],
  issuer: [text, ''],
  audience: [text, DEFAULT_AUDIENCE],
  revocations: [
    must(
      'be the path of a file, or a function that returns the signed list',
      (source) => typeof source === 'function' || (typeof source === 'string' && source !== ''),
    ),
  ],
  revocationsMaxAgeDays: [whole(1, 3650), 30],
  clock: [must('have a now() method', (clock) => typeof Object(clock).now === 'function'), systemClock],
} as const satisfies Declared<OfflineLicensingOptions>

const DAY_SECONDS = 24 * 60 * 60

/**
 * Checks the options.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function resolveOfflineOptions(options: OfflineLicensingOptions) {
  requireObject('The options of offlineLicensing()', options)
  const resolved = resolveDeclared(OPTIONS, options)
  const { catalogue, issuer, audience, revocations, revocationsMaxAgeDays: days, clock } = resolved
  const keys = checkPublicKeys(resolved.keys)
  if (keys.size > 0 && issuer === '')
    throw invalidOption('"keys" needs "issuer": the vendor, exactly as named in its licenses')
  if (audience === '') throw invalidOption('"audience" must not be empty')
  return {
    readCatalogue: offlineCatalogue(catalogue),
    keys,
    issuer,
    audience,
    readRevocations: revocationReader(revocations),
    /** Maximum age of the revocation list, in seconds. */
    revocationsMaxAge: days * DAY_SECONDS,
    clock,
  }
}

function revocationReader(source: OfflineLicensingOptions['revocations']): (() => Promise<string>) | undefined {
  if (source === undefined) return undefined
  return typeof source === 'function' ? async () => source() : () => readFile(source, 'utf8')
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

const optionalText = z._default(z.string('must be a string'), '')

const entry = z.object({
  id: productId,
  slug: z.string('must be a string').check(z.minLength(1, 'must not be empty')),
  title: z.string('must be a string').check(z.minLength(1, 'must not be empty')),
  is_premium: z.boolean('must be true or false'),
  icon: z._default(z.nullable(z.string('must be a string')), null),
  link: optionalText,
  description: optionalText,
  homepage: optionalText,
  banner: optionalText,
  banner_large: optionalText,
})
const entries = z
  .array(entry, 'must be an array')
  .check(z.refine((list) => new Set(list.map(({ id }) => id)).size === list.length, 'must not have duplicate ids'))

/** An add-on in the application's own list. Only `id`, `slug`, `title` and `is_premium` are required. */
export type OfflineAddon = Pick<RawAddon, 'id' | 'slug' | 'title' | 'is_premium'> &
  Partial<Omit<RawAddon, 'id' | 'slug' | 'title' | 'is_premium' | 'raw'>>

/**
 * Returns a function that reads a local catalogue.
 *
 * @param source The add-ons, or the path of a JSON file, which is read on every call.
 * @throws SessmgrError `invalid_option` with the problem if the catalogue is invalid.
 */
function offlineCatalogue(source: string | readonly OfflineAddon[]): () => Promise<readonly RawAddon[]> {
  const refuse = (problem: string) => {
    throw new SessmgrError('invalid_option', `"catalogue" ${problem}.`)
  }
  if (typeof source !== 'string') {
    const addons = addonsOf(source, refuse)
    return async () => structuredClone(addons)
  }
  try {
    addonsOf(parse(readFileSync(source, 'utf8'), refuse), refuse)
  } catch (error) {
    throw error instanceof SessmgrError ? error : refuse(`cannot be read: ${(error as Error).message}`)
  }
  return async () => {
    const fail = (problem: string): never => {
      throw new LicensingError('provider_bad_response', { message: `The catalogue file ${problem}.` })
    }
    const text = await readFile(source, 'utf8').catch(() => fail('cannot be read'))
    return addonsOf(parse(text, fail), fail)
  }
}

function parse(text: string, refuse: (problem: string) => never): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return refuse('is not valid JSON')
  }
}

function addonsOf(value: unknown, refuse: (problem: string) => never): readonly RawAddon[] {
  const parsed = entries.safeParse(value)
  if (parsed.success) return parsed.data.map((addon) => ({ ...addon, raw: { ...addon } }))
  const [issue] = parsed.error.issues
  const place = issue?.path.length ? `is wrong at ${issue.path.join('.')}: it ` : ''
  return refuse(`${place}${issue?.message}`)
}

/**
 * Creates a licensing provider for offline licenses. The vendor signs the license keys, and this machine checks them
 * without network access.
 *
 * The provider cannot count the sites that use a key, but a vendor can bind a key to host names or revoke it.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * sessmgr({ site: { url: 'https://example.com' }, licensing: offlineLicensing({ catalogue: 'addons.json', issuer: 'acme', keys }) })
 */
export function offlineLicensing(options: OfflineLicensingOptions = {}): LicensingProvider {
  const resolved = resolveOfflineOptions(options)
  const { keys, issuer, audience, clock } = resolved
  let latest = 0

  async function revocations(now: number): Promise<RevocationList | undefined> {
    if (!resolved.readRevocations) return undefined
    const text = await resolved.readRevocations().catch(() => undefined)
    if (typeof text !== 'string') throw unreliable('cannot be read')
    const list = await readRevocations(text, { keys, issuer, audience })
    if ('problem' in list) throw unreliable(`cannot be trusted: ${list.problem}`)
    if (now - list.issuedAt > resolved.revocationsMaxAge) throw unreliable('is too old; get a new one from the vendor')
    return list
  }

  async function judge(call: {
    key: string
    productId: number
    site: SiteIdentity
    seenAt?: string | undefined
    signal?: AbortSignal | undefined
  }): Promise<LicenseJudgement> {
    requireTime(call.signal)
    const now = Math.floor(clock.now() / 1000)
    const seenAt = Math.max(latest, Math.floor(Date.parse(call.seenAt ?? '') / 1000) || 0)
    latest = Math.max(latest, now)
    const host = URL.canParse(call.site.url) ? new URL(call.site.url).hostname : undefined
    const rules = { keys, issuer, audience, now, seenAt, host, productId: call.productId }
    return judgeLicense(call.key, { ...rules, revocations: await revocations(now) })
  }

  return {
    name: 'offline',
    local: true,
    async listAddons({ signal }) {
      requireTime(signal)
      return resolved.readCatalogue()
    },
    async activate(call) {
      const { claims, problems } = await judge(call)
      const [problem] = problems
      if (!claims || problem) {
        throw new LicensingError(problem?.code ?? 'license_invalid', problem && { message: problem.sentence })
      }
      return {
        productId: call.productId,
        key: call.key,
        uid: call.site.uid,
        installId: null,
        plan: claims.ent[0] ?? null,
        activatedAt: new Date(clock.now()).toISOString(),
        expiresAt: expiryOf(claims),
      }
    },
    async deactivate({ signal }) {
      // The provider has nothing to remove, because only sessmgr stores the activation.
      requireTime(signal)
    },
    async validate(call) {
      const { claims, problems } = await judge({ ...call, key: call.activation.key })
      const moved = call.activation.uid === call.site.uid ? undefined : ('license_site_mismatch' as const)
      const reason = problems[0]?.code ?? moved
      const state = { expiresAt: claims ? expiryOf(claims) : null, quota: claims?.quota ?? null, used: null }
      return reason ? { ...state, active: false, reason } : { ...state, active: true }
    },
  }
}

function requireTime(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new LicensingError('provider_unavailable')
}

function expiryOf({ exp }: LicenseClaims): string | null {
  const date = new Date((exp ?? Number.NaN) * 1000)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

function unreliable(problem: string): LicensingError {
  return new LicensingError('provider_unavailable', { message: `The revocation list ${problem}.` })
}
