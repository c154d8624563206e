import type { Clock } from '../ground/clock.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'

const BITS = 192
/** Longest text that is read: browsers store no longer cookie. */
const LONGEST = 4096

/** What the site hands to a browser, in a cookie or a form, and accepts back unchanged only. Readable by the browser. */
export interface SignedValues {
  /**
   * Signs a value of JSON for one purpose. The result needs no escaping in cookies, URLs and forms.
   *
   * @param ttlMs Milliseconds until it expires.
   */
  sign(purpose: string, value: unknown, ttlMs: number): Promise<string>
  /** Returns the value of a signed text; undefined if it is forged, cut, expired, or signed for another purpose. */
  read(purpose: string, text: string | undefined): Promise<unknown>
}

/**
 * Creates the signed values of a site.
 *
 * @param secrets The secrets, newest first: the first one signs, all are accepted.
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
  // JSON keeps two purposes from producing the same message; its first word distinguishes it from a session's marker.
  const message = JSON.stringify(['value', purpose, content])
  return nodeCrypto()
    .createHmac('sha256', secret)
    .update(message)
    .digest()
    .subarray(0, BITS / 8)
}
