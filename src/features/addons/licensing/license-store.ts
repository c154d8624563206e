import * as z from 'zod/mini'
import { SessmgrError } from '../../../ground/errors.ts'
import { type Logger, warn } from '../../../ground/logger.ts'
import type { OptionStore } from '../../../options/option-store.ts'
import type { LicenseCipher } from './license-cipher.ts'
import { LicensingError } from './licensing-error.ts'
import type { Activation } from './licensing-provider.ts'

// The point keeps it apart from the options that add-ons register, whose names have none: nobody can expose it.
const OPTION = 'sessmgr.licenses'
/** Writes that may lose against others before a change gives up. */
const MAX_ATTEMPTS = 20

const storedText = z.union([z.object({ sealed: z.string() }), z.object({ plain: z.string() })])
const storedLicense = z.object({
  /** Name of the provider that it was activated at: no other one could make anything of it. */
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

type StoredLicense = z.infer<typeof storedLicense>
type StoredRecord = z.infer<typeof storedRecord>

/** The licences of this site. */
export interface KeptLicenses {
  readonly activations: ReadonlyMap<number, Activation>
  /** The latest time that this site has seen, ISO 8601. */
  readonly seenAt: string | undefined
}

/** Keeps the licences that are active on this site, their keys encrypted when there is a secret. */
export interface LicenseStore {
  read(): Promise<KeptLicenses>
  /** Keeps an activation in place of the product's earlier one. */
  save(activation: Activation): Promise<void>
  /** Forgets the activation of a product, and with the last one the latest time seen. */
  remove(productId: number): Promise<void>
  /** Notes the time, unless a later one is known. */
  see(time: string): Promise<void>
}

/** Creates the store of the licences over the options of the site. */
export function createLicenseStore(
  options: OptionStore,
  cipher: LicenseCipher,
  logger: Logger,
  provider: string,
): LicenseStore {
  const warned = new Set<string>()

  async function load(): Promise<{ revision: string | undefined; record: StoredRecord }> {
    const stored = await options.get(OPTION)
    const parsed = storedRecord.safeParse(stored?.value)
    return { revision: stored?.revision, record: parsed.success ? parsed.data : { licenses: {} } }
  }

  /** Changes the record by compare-and-set, so that two licences that are activated at once both stay. */
  async function change(make: (record: StoredRecord) => StoredRecord | undefined): Promise<void> {
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      const { revision, record } = await load()
      const changed = make(record)
      if (changed === undefined || (await options.swap(OPTION, revision, changed))) return
    }
    throw new SessmgrError('store_unavailable', 'The licences are being changed by many at once. Try again.')
  }

  /** Takes no more of an activation than it should have: what else a provider gave may be anything. */
  function seal({ productId, key, proof, ...rest }: Activation): StoredLicense {
    const secret = cipher.seal(JSON.stringify({ key, proof }), String(productId))
    const parsed = storedLicense.safeParse({ ...rest, provider, secret })
    if (parsed.success) return parsed.data
    throw new LicensingError('provider_bad_response')
  }

  /** Reads one licence; undefined, with a warning, when it cannot be read. */
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
      const message = `The licence of add-on ${id} cannot be read: ${reason}. Activate it again.`
      warn(logger, 'licence-cannot-be-read', message)
    }
    warned.add(id)
    return undefined
  }

  function opened({ licenses }: StoredRecord) {
    return Object.entries(licenses).flatMap(([id, value]) => open(id, value) ?? [])
  }

  /** Encrypts anew what an old secret, or none, had been used for, so that the old one can be taken away. */
  async function sealAnew(): Promise<void> {
    await change((record) => {
      const old = opened(record).filter(({ isOld }) => isOld)
      const sealed = old.map(({ activation }) => [activation.productId, seal(activation)])
      return old.length > 0 ? { ...record, licenses: { ...record.licenses, ...Object.fromEntries(sealed) } } : undefined
    }).catch(({ message }) => {
      const problem = 'The licences could not be encrypted with the new secret.'
      warn(logger, 'licence-cannot-be-read', problem, { error: message })
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
        // A clock that was wrong for a day must not lock a site out of its licences for ever.
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
