import type { Clock } from '../ground/clock.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'

const BITS = 192
/** Longer strings are rejected unread, because browsers do not store longer cookies. */
const LONGEST = 4096

/**
 * Values that the site sends to a browser, in a cookie or a form, and accepts back only if unchanged. The browser can
 * read them.
 */
export interface SignedValues {
  /**
   * Signs a JSON value for one purpose. The result needs no escaping in cookies, URLs or forms.
   *
   * @param ttlMs Milliseconds until the result expires.
   */
  sign(purpose: string, value: unknown, ttlMs: number): Promise<string>
  /**
   * Returns the value of a signed string, or undefined if it was forged or truncated, has expired, or was signed for
   * another purpose.
   */
  read(purpose: string, text: string | undefined): Promise<unknown>
}

/**
 * Creates the {@link SignedValues} of a site.
 *
 * @param secrets The secrets, newest first. The first one signs; all are accepted.
 */
export function createSignedValues(secrets: () => Promise<readonly string[]>, clock: Clock): SignedValues {
  return {
    sign: async (purpose, value, ttlMs) => signValue(await secrets(), purpose, value, clock.now() + ttlMs),
    async read(purpose, text) {
      const signed = readValue(await secrets(), purpose, text)
      return signed && signed.expiresAt > clock.now() ? signed.value : undefined
    },
  }
}

/** Signs a value, like `SignedValues.sign`. */
export function signValue(
  [secret = '']: readonly string[],
  purpose: string,
  value: unknown,
  expiresAt: number,
): string {
  const content = Buffer.from(JSON.stringify([expiresAt, value])).toString('base64url')
  return `${content}.${signatureOf(secret, purpose, content).toString('base64url')}`
}

/** A value that was signed by the site, even if it has expired. */
interface SignedValue {
  readonly value: unknown
  /** In milliseconds, by the clock of the process that signed it. */
  readonly expiresAt: number
}

/** Reads a signed string, like `SignedValues.read`. The caller checks whether it has expired. */
export function readValue(
  secrets: readonly string[],
  purpose: string,
  text: string | undefined,
): SignedValue | undefined {
  const [, content, signature] = (text && text.length <= LONGEST && /^([\w-]+)\.([\w-]{32})$/.exec(text)) || []
  if (content === undefined || signature === undefined) return undefined
  const given = Buffer.from(signature, 'base64url')
  const expected = secrets.map((secret) => signatureOf(secret, purpose, content))
  if (!expected.map((one) => nodeCrypto().timingSafeEqual(given, one)).includes(true)) return undefined
  const [expiresAt, value] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [number, unknown]
  return { value, expiresAt }
}

function signatureOf(secret: string, purpose: string, content: string): Buffer {
  // As JSON, messages of different purposes always differ. 'value' distinguishes them from other messages that a site
  // signs.
  const message = JSON.stringify(['value', purpose, content])
  return nodeCrypto()
    .createHmac('sha256', secret)
    .update(message)
    .digest()
    .subarray(0, BITS / 8)
}
