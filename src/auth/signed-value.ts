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
    async sign(purpose, value, ttlMs) {
      const [secret = ''] = await secrets()
      const content = Buffer.from(JSON.stringify([clock.now() + ttlMs, value])).toString('base64url')
      return `${content}.${signatureOf(secret, purpose, content).toString('base64url')}`
    },
    async read(purpose, text) {
      const [, content, signature] = (text && text.length <= LONGEST && /^([\w-]+)\.([\w-]{32})$/.exec(text)) || []
      if (content === undefined || signature === undefined) return undefined
      const given = Buffer.from(signature, 'base64url')
      const expected = (await secrets()).map((secret) => signatureOf(secret, purpose, content))
      if (!expected.map((one) => nodeCrypto().timingSafeEqual(given, one)).includes(true)) return undefined
      const [expires, value] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [number, unknown]
      return expires > clock.now() ? value : undefined
    },
  }
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
