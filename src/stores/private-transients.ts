import type { KeyObject } from 'node:crypto'
import type { NameSecrets, SiteSecrets } from '../auth/site-secrets.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { SessmgrStore } from './store.ts'

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/** The kinds of strings about people: how their keys begin. */
const KINDS = ['ended', 'fresh', 'password-used', 'erased']

/**
 * Returns a store that hides whom its strings are about: their keys become keyed hashes, and their values are encrypted
 * with a key derived from the original key. Remnants of an erased user are readable only with the original key, which
 * a browser may still have, for example in the cookie of an ended session.
 */
export function withPrivateTransients(store: SessmgrStore, secrets: SiteSecrets): SessmgrStore {
  return { ...store, transients: privateTransients(store.transients, secrets) }
}

/** Returns a transient store that hides whom its strings are about; see {@link withPrivateTransients}. */
function privateTransients(transients: TransientStore, secrets: SiteSecrets) {
  /** Returns the places where a string may be stored. It is written to the first one. */
  function placesOf(key: string): Places | Promise<Places> {
    const kind = kindOf(key)
    if (kind === undefined) return [{ key, seal: undefined }]
    const found = secrets.forNames()
    const placesFrom = (given: NameSecrets) => sealedPlaces(given, kind, key)
    return found instanceof Promise ? found.then(placesFrom) : placesFrom(found)
  }

  function sealedPlaces({ given, stored }: NameSecrets, kind: string, key: string): Places {
    // The mark of an erasure outlives the user's data, so it is hidden with the application's secret, which is not in
    // the store. Processes without that secret, such as the command line, must be able to find the other kinds.
    const names = kind === 'erased' ? [...given, stored] : [stored]
    return names.map((secret) => sealedPlace(secret, kind, key)) as [Place, ...Place[]]
  }

  async function find(key: string, read: (key: string) => Promise<string | undefined>): Promise<string | undefined> {
    const places = await placesOf(key)
    const found = await Promise.all(places.map((place) => read(place.key)))
    for (const [index, place] of places.entries()) {
      const stored = found[index]
      const text = stored === undefined || !place.seal ? stored : open(place.seal, stored)
      if (text !== undefined) return text
    }
    return undefined
  }

  return {
    get: (key: string) => find(key, (stored) => transients.get(stored)),
    async set(key: string, value: string, ttlMs: number) {
      const [{ key: stored, seal: own }] = await placesOf(key)
      await transients.set(stored, own ? seal(own, value) : value, ttlMs)
    },
    take: (key: string) => find(key, (stored) => transients.take(stored)),
    generation: (group: string) => transients.generation(group),
    advance: (group: string) => transients.advance(group),
  }
}

const KIND = new RegExp(`^(${KINDS.join('|')}):`)

/** Returns the kind of the string with this key, or undefined if it is not about people. */
const kindOf = (key: string): string | undefined => KIND.exec(key)?.[1]

/** The places where a string may be stored. It is written to the first one. */
type Places = readonly [Place, ...Place[]]

/** Where a string is stored, and the key that encrypts it. */
interface Place {
  readonly key: string
  readonly seal: KeyObject | undefined
}

function sealedPlace(secret: string, kind: string, key: string): Place {
  // As JSON, the signed message differs from all others that the site signs.
  const hmac = (purpose: string) =>
    nodeCrypto()
      .createHmac('sha256', secret)
      .update(JSON.stringify(['transient', purpose, key]))
      .digest()
  let own: KeyObject | undefined
  return {
    key: `${kind}:${hmac('key').toString('base64url')}`,
    // Created on demand, because most lookups find nothing to decrypt. Without a KeyObject, Node 24 takes five times as
    // long.
    get seal() {
      own ??= nodeCrypto().createSecretKey(hmac('value'))
      return own
    },
  }
}

/** Encrypts a value. */
function seal(key: KeyObject, value: string): string {
  const { randomBytes, createCipheriv } = nodeCrypto()
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv)
  const content = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64url')
}

/** Decrypts what `seal` returned. Returns undefined for any other string, even if it decodes to the same bytes. */
function open(key: KeyObject, text: string): string | undefined {
  try {
    const bytes = Buffer.from(text, 'base64url')
    if (bytes.toString('base64url') !== text) return undefined
    const decipher = nodeCrypto().createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}
