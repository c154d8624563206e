const getBuiltinModule = process.getBuiltinModule
const crypto = getBuiltinModule('node:crypto')
const MOST_KNOWN = 50_000

/** Random bytes of a history, which are the same each time. */
let chance = 1

/** Begins a history: from now on, random values are the same as in every other. */
export function beginAgain(): void {
  chance = 1
}

function bytes(count: number): Buffer {
  const made = Buffer.alloc(count)
  for (let index = 0; index < count; index++) {
    chance = (chance * 48_271) % 0x7fffffff
    made[index] = chance >>> 8
  }
  return made
}

/** A key that is known by its bytes. */
class QuickKey {
  constructor(readonly name: string) {}
}

/** Remembers signatures by their texts, because the same few come in every history. */
const known = new Map<string, Buffer>()

function createHmac(algorithm: string, key: string | QuickKey) {
  const secret = typeof key === 'string' ? key : key.name
  return {
    update(text: string) {
      const name = `${secret} ${text}`
      let found = known.get(name)
      if (!found) {
        if (known.size > MOST_KNOWN) known.clear()
        found = withKnownText(crypto.createHmac(algorithm, secret).update(text).digest())
        known.set(name, found)
      }
      const made = found
      return { digest: (encoding?: BufferEncoding) => (encoding ? made.toString(encoding) : made) }
    },
  }
}

/** Lets a buffer remember itself in base64url, in which most signatures are used. */
function withKnownText(bytes: Buffer): Buffer {
  const text = bytes.toString('base64url')
  const inOther = bytes.toString.bind(bytes)
  const told = (encoding?: BufferEncoding) => (encoding === 'base64url' ? text : inOther(encoding))
  return Object.assign(bytes, { toString: told })
}

const NOTHING = Buffer.alloc(0)
const TAG = Buffer.alloc(16)
/** A cipher that encrypts nothing: whether values are encrypted is no question of the rules. */
const cipher = {
  update: (text: string) => Buffer.from(text),
  final: () => NOTHING,
  getAuthTag: () => TAG,
}
const decipher = {
  setAuthTag() {},
  update: (bytes: Buffer) => bytes.toString(),
  final: () => '',
}

const quick = {
  createHmac,
  createSecretKey: (given: Buffer) => new QuickKey(given.toString('latin1')),
  createCipheriv: () => cipher,
  createDecipheriv: () => decipher,
  randomBytes: bytes,
  randomUUID: () =>
    bytes(16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
}

/** Makes `node:crypto`, as the code under test loads it, quick and the same each time. */
export function useQuickCrypto(): void {
  Object.setPrototypeOf(quick, crypto)
  process.getBuiltinModule = ((name: string) =>
    name === 'node:crypto' ? quick : getBuiltinModule(name)) as typeof getBuiltinModule
}
