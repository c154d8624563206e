import type { IncomingHttpHeaders } from 'node:http'
import { invalidOption } from '../ground/invalid-option.ts'

/** Which pages may connect. */
export interface OriginOptions {
  /** The sites whose pages may connect, such as `https://example.com`. @default the host of the request */
  readonly origins?: readonly string[] | undefined
}

/** Values of `Sec-Fetch-Site` with which no page of another site sends a request. */
const OWN_FETCHES: readonly (string | string[] | undefined)[] = [undefined, 'same-origin', 'none']

/**
 * Whether a connection comes from a page of this site. Any site can open a connection, and browsers send cookies with
 * it. Browsers always send the origin with an upgrade, but not with a GET request from this site, nor with a script
 * request from another site. Over HTTPS, `Sec-Fetch-Site` distinguishes these; `none` is a URL that the user has typed.
 *
 * The scheme is not compared: behind a proxy that ends TLS, the process cannot know it.
 */
export function isOwnOrigin(headers: IncomingHttpHeaders, origins: readonly string[] | undefined): boolean {
  const { origin, host, upgrade } = headers
  if (origin === undefined) return upgrade === undefined && OWN_FETCHES.includes(headers['sec-fetch-site'])
  const site = siteOf(origin)
  if (site === undefined) return false
  if (origins) return origins.some((one) => siteOf(one) === site)
  const [scheme] = site.split('//')
  return siteOf(`${scheme}//${host}`) === site
}

/** @throws SessmgrError `invalid_option`. */
export function checkOrigins(origins: unknown): void {
  const isSite = (one: unknown) => typeof one === 'string' && siteOf(one) !== undefined
  if (origins !== undefined && !(Array.isArray(origins) && origins.every(isSite))) {
    throw invalidOption('"origins" must be an array of sites without a path, such as "https://example.com"')
  }
}

/** Returns a site in lower case and without the default port, or undefined for anything that is no site. */
function siteOf(text: string): string | undefined {
  const isSite = /^https?:\/\/[^\s/@?#\\]+$/i.test(text) && URL.canParse(text)
  return isSite ? new URL(text).origin : undefined
}
