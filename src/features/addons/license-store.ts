import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import type { Clock } from '../../ground/clock.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { type Logger, logFailure } from '../../ground/logger.ts'
import type { OptionStore } from '../../options/option-store.ts'
import {
  type Activation,
  callProvider,
  LicensingError,
  type LicensingProvider,
  type SiteIdentity,
} from './licensing.ts'

// Names of add-on options never contain a dot, so no route can expose this option.
const OPTION = 'sessmgr.licenses'
/** How many times a change is attempted while other processes keep writing. */
const MAX_ATTEMPTS = 20

/** A stored string. It is encrypted, or plain if there is no secret. */
const storedText = z.union([z.object({ sealed: z.string() }), z.object({ plain: z.string() })])
const storedLicense = z.object({
  /** Name of the provider that activated the license. Other providers cannot use the license. */
  provider: z.string(),
  uid: z.string(),
  installId: z.nullable(z.string()),
  plan: z.nullable(z.string()),
  activatedAt: z.string(),
  expiresAt: z.nullable(z.string()),
  /** Key and proof, as JSON. */
  secret: storedText,
})
const storedRecord = z.object({ seenAt: z.optional(z.string()), licenses: z.record(z.string(), z.unknown()) })

type StoredText = z.infer<typeof storedText>
type StoredLicense = z.infer<typeof storedLicense>
type StoredRecord = z.infer<typeof storedRecord>

/** This site's licenses. */
interface KeptLicenses {
  readonly activations: ReadonlyMap<number, Activation>
  /** The latest time seen on this site, in ISO 8601. */
  readonly seenAt: string | undefined
}

/** Stores this site's active licenses, encrypted if there is a secret. */
interface LicenseStore {
  read(): Promise<KeptLicenses>
  /** Stores an activation, replacing the earlier one of the same product. */
  save(activation: Activation): Promise<void>
  /** Removes the activation of a product. Removing the last one also removes the latest time seen. */
  remove(productId: number): Promise<void>
  /** Saves a time as the latest seen, unless a later one is already stored. */
  see(time: string): Promise<void>
}

/** Creates the store of licenses on top of the site's options. */
export function createLicenseStore(
  options: OptionStore,
  secrets: readonly string[],
  logger: Logger,
  provider: string,
): LicenseStore {
  const cipher = createLicenseCipher(secrets)
  const warned = new Set<string>()

  async function load(): Promise<{ revision: string | undefined; record: StoredRecord }> {
    const stored = await options.get(OPTION)
    const parsed = storedRecord.safeParse(stored?.value)
    return { revision: stored?.revision, record: parsed.success ? parsed.data : { licenses: {} } }
  }

  /** Changes the record by compare-and-set, so that no concurrent activation is lost. */
  async function change(make: (record: StoredRecord) => StoredRecord | undefined): Promise<void> {
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      const { revision, record } = await load()
      const changed = make(record)
      if (changed === undefined || (await options.swap(OPTION, revision, changed))) return
    }
    throw new SessmgrError('store_unavailable', 'Too many changes to the licenses at once. Try again.')
  }

  /** Encrypts an activation. Drops the provider's unknown fields. */
  function seal({ productId, key, proof, ...rest }: Activation): StoredLicense {
    const secret = cipher.seal(JSON.stringify({ key, proof }), String(productId))
    const parsed = storedLicense.safeParse({ ...rest, provider, secret })
    if (parsed.success) return parsed.data
    throw new LicensingError('provider_bad_response')
  }

  /** Reads one license. Returns undefined, with a warning, if it cannot be read. */
  function open(id: string, value: unknown): { activation: Activation; isOld: boolean } | undefined {
    const parsed = storedLicense.safeParse(value)
    const isOurs = parsed.success && parsed.data.provider === provider
    const opened = isOurs ? cipher.open(parsed.data.secret, id) : undefined
    const parts = opened && secretParts(opened.text)
    if (parsed.success && opened && parts) {
      const { secret: _sealed, provider: _name, ...rest } = parsed.data
      return { activation: { productId: Number(id), ...rest, ...parts }, isOld: opened.isOld }
    }
    if (!warned.has(id)) {
      const reason = reasonWhy(parsed.success, isOurs, opened !== undefined)
      const message = `The license of add-on ${id} cannot be read: ${reason}. Activate it again.`
      logFailure(logger, message)
    }
    warned.add(id)
    return undefined
  }

  function opened({ licenses }: StoredRecord) {
    return Object.entries(licenses).flatMap(([id, value]) => open(id, value) ?? [])
  }

  /** Re-encrypts licenses that were stored unencrypted or with an old secret, so that the old secret can be removed. */
  async function sealAnew(): Promise<void> {
    await change((record) => {
      const old = opened(record).filter(({ isOld }) => isOld)
      const sealed = old.map(({ activation }) => [activation.productId, seal(activation)])
      return old.length > 0 ? { ...record, licenses: { ...record.licenses, ...Object.fromEntries(sealed) } } : undefined
    }).catch(({ message }) => {
      const problem = 'The licenses could not be encrypted with the new secret.'
      logFailure(logger, problem, { error: message })
    })
  }

  return {
    async read() {
      const { record } = await load()
      const licenses = opened(record)
      if (licenses.some(({ isOld }) => isOld)) await sealAnew()
      const activations = new Map(licenses.map(({ activation }) => [activation.productId, activation]))
      return { activations, seenAt: record.seenAt }
    },
    save: (activation) =>
      change(({ seenAt, licenses }) => ({
        seenAt: latest(seenAt, activation.activatedAt),
        licenses: { ...licenses, [activation.productId]: seal(activation) },
      })),
    remove: (productId) =>
      change(({ seenAt, licenses }) => {
        const { [productId]: _removed, ...rest } = licenses
        // Forget the time seen, so that a clock that was wrong once does not block licenses permanently.
        return Object.keys(rest).length > 0 ? { seenAt, licenses: rest } : { licenses: {} }
      }),
    see: (time) =>
      change(({ seenAt, licenses }) => (latest(seenAt, time) === seenAt ? undefined : { seenAt: time, licenses })),
  }
}

function reasonWhy(isWhole: boolean, isOurs: boolean, isOpen: boolean): string {
  if (isWhole && !isOurs) return 'it was activated with another licensing provider'
  return isWhole && !isOpen ? 'it was encrypted with another secret' : 'its stored record is damaged'
}

function secretParts(text: string): Pick<Activation, 'key' | 'proof'> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function latest(known: string | undefined, time: string): string {
  return known !== undefined && known > time ? known : time
}

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Creates the cipher: AES-256-GCM with a key derived from a secret by HKDF.
 *
 * @param secrets The secrets, newest first. The first one encrypts, all decrypt. Without secrets, nothing is encrypted.
 */
function createLicenseCipher(secrets: readonly string[]) {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, 'sessmgr', 'licences at rest', 32)))
  return {
    /** Encrypts a string. Decrypting it requires the same `context`. */
    seal(text: string, context: string): StoredText {
      const [key] = keys
      if (!key) return { plain: text }
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(context))
      const parts = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return { sealed: Buffer.concat(parts).toString('base64url') }
    },
    /**
     * Decrypts a stored string, or returns undefined if no secret fits. If `isOld`, it should be encrypted again.
     */
    open(stored: StoredText, context: string): { text: string; isOld: boolean } | undefined {
      if ('plain' in stored) return { text: stored.plain, isOld: keys.length > 0 }
      const bytes = Buffer.from(stored.sealed, 'base64url')
      for (const [index, key] of keys.entries()) {
        const text = decrypt(key, bytes, context)
        if (text !== undefined) return { text, isOld: index > 0 }
      }
      return undefined
    },
  }
}

function decrypt(key: Buffer, bytes: Buffer, context: string): string | undefined {
  if (bytes.length < IV_BYTES + TAG_BYTES) return undefined
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const start = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES))
    return Buffer.concat([start, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

const LEEWAY_MS = 60_000
/** Minimum time between two checks of the same license with a remote provider. */
const PAUSE_MS = 5 * 60_000
/** Minimum time between two saves of the latest time seen. */
const NOTE_MS = 60 * 60_000

/** Checks whether an activation is valid now. */
type LicenseVerdict = (activation: Activation, seenAt: string | undefined) => Promise<boolean>

/**
 * Creates the license check.
 *
 * A local provider is called for each check, and if it fails, the license counts as inactive. A remote provider is
 * called in the background. Until it first responds, the license counts as active; then, its last response applies.
 */
export function createLicenseVerdicts(parts: {
  provider: LicensingProvider
  licenses: LicenseStore
  site: () => Promise<SiteIdentity>
  clock: Clock
  logger: Logger
}): LicenseVerdict {
  const { provider, licenses, clock, logger } = parts
  const known = new Map<number, { of: string; active: boolean; askedAt: number }>()

  async function ask(activation: Activation, site: SiteIdentity, seenAt: string | undefined): Promise<boolean> {
    const { productId } = activation
    const state = await callProvider(async (signal) =>
      provider.validate?.({ productId, activation, site, seenAt, signal }),
    )
    return state?.active === true
  }

  function warnUnchecked(productId: number, { code, message }: LicensingError): void {
    const details = { provider: provider.name, productId, code, error: message }
    logFailure(logger, 'A license could not be checked.', details)
  }

  async function askHere(activation: Activation, site: SiteIdentity, seenAt: string | undefined): Promise<boolean> {
    try {
      if (!(await ask(activation, site, seenAt))) return false
    } catch (error) {
      warnUnchecked(activation.productId, error as LicensingError)
      return false
    }
    const now = clock.now()
    // A failure to save the time must not change the result.
    if (now - Date.parse(seenAt ?? '') < NOTE_MS) return true
    await licenses.see(new Date(now).toISOString()).catch(({ message }) => {
      logFailure(logger, 'The time of a license check could not be saved.', { error: message })
    })
    return true
  }

  function lastWord(activation: Activation, site: SiteIdentity): boolean {
    const { productId, activatedAt: of } = activation
    const last = known.get(productId)
    const active = last?.of === of ? last.active : true
    if (last?.of === of && clock.now() - last.askedAt < PAUSE_MS) return active
    known.set(productId, { of, active, askedAt: clock.now() })
    void ask(activation, site, undefined).then(
      (answer) => known.set(productId, { of, active: answer, askedAt: clock.now() }),
      (error) => warnUnchecked(productId, error),
    )
    return active
  }

  return async (activation, seenAt) => {
    const site = await parts.site()
    // A copy of the database at another URL has no license.
    if (activation.uid !== site.uid) return false
    if (activation.expiresAt !== null && clock.now() > Date.parse(activation.expiresAt) + LEEWAY_MS) return false
    if (!provider.validate) return true
    return provider.local ? askHere(activation, site, seenAt) : lastWord(activation, site)
  }
}
