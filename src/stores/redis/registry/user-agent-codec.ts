import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { BoundedMap } from '../../../ground/bounded-map.ts'

/**
 * Common phrases in user agents, the most frequent ones last. User agents are the largest part of a session's record,
 * and the dictionary shortens them to a third. Never change the dictionary. To improve it, add another one: each stored
 * value starts with the number of its dictionary.
 */
const DICTIONARY = Buffer.from(
  'Opera/OPR/ Vivaldi/SamsungBrowser/ CriOS/FxiOS/ EdgA/EdgiOS/ curl/python-requests/node-fetch okhttp/PostmanRuntime/' +
    'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0' +
    'Mozilla/5.0 (Android 14; Mobile; rv:128.0) Gecko/128.0 Firefox/128.0' +
    'Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1' +
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1' +
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36 Edg/130.0.0.0' +
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36' +
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15' +
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0' +
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
)
const PLAIN = '0'
const DEFLATED = '1'

/** Most logins come from the same few user agents, and compressing one takes as long as a Redis call. */
const recent = new BoundedMap<string, string>(500)

/** Compresses a user agent. */
export function encodeUserAgent(userAgent: string): string {
  const known = recent.get(userAgent)
  if (known !== undefined) return known
  const encoded = deflated(userAgent)
  recent.set(userAgent, encoded)
  return encoded
}

function deflated(userAgent: string): string {
  const short = deflateRawSync(userAgent, { dictionary: DICTIONARY, level: 9 }).toString('base64url')
  return short.length < userAgent.length ? DEFLATED + short : PLAIN + userAgent
}

/** Decodes what {@link encodeUserAgent} wrote. */
export function decodeUserAgent(encoded: string): string {
  if (!encoded.startsWith(DEFLATED)) return encoded.slice(1)
  return inflateRawSync(Buffer.from(encoded.slice(1), 'base64url'), { dictionary: DICTIONARY }).toString()
}
