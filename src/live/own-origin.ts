import type { IncomingHttpHeaders } from 'node:http'
import { invalidOption } from '../ground/invalid-option.ts'

/** Options that restrict which pages may connect. */
export interface OriginOptions {
  /** The sites whose pages may connect, such as `https://example.com`. @default the host of the request */
  readonly origins?: readonly string[] | undefined
}

/** Accepted values of `Sec-Fetch-Site`, which browsers send only over HTTPS. */
const OWN_FETCHES: readonly (string | string[] | undefined)[] = [undefined, 'same-origin', 'none']

/**
 * Checks whether a connection comes from a page of this site. Any site can open one, and browsers send cookies with it.
 * Browsers send `Origin` with every upgrade, but not with a GET request from this site or a script request from
 * another. Over HTTPS, `Sec-Fetch-Site` distinguishes these two; `none` means that the user typed the URL.
 *
 * Without `origins`, the scheme is not compared, because it is unknown behind a proxy that terminates TLS.
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

/** Checks the `origins` option. @throws SessmgrError `invalid_option`. */
export function checkOrigins(origins: unknown): void {
  const isSite = (one: unknown) => typeof one === 'string' && siteOf(one) !== undefined
  if (origins !== undefined && !(Array.isArray(origins) && origins.every(isSite))) {
    throw invalidOption('"origins" must be an array of URLs without a path, such as "https://example.com"')
  }
}

/** Returns a site in lower case without the default port, or undefined for anything else. */
function siteOf(text: string): string | undefined {
  const isSite = /^https?:\/\/[^\s/@?#\\]+$/i.test(text) && URL.canParse(text)
  return isSite ? new URL(text).origin : undefined
}
