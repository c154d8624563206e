import type { RoutedRequest } from '../door/host-types.ts'
import { type Visit, visitOf } from '../door/request/visit.ts'

/** Checks whether a value is a path on this site, or an http or https URL. */
export function isAddress(value: unknown): value is string {
  if (typeof value !== 'string' || /[\s\\]/.test(value)) return false
  return /^https?:\/\//.test(value) ? URL.canParse(value) : /^\/(?!\/)/.test(value)
}

/** Checks whether a value is a help link: a path, an http or https URL, or a mailto: URL. */
export function isHelpAddress(value: unknown): value is string {
  return isAddress(value) || (typeof value === 'string' && /^mailto:[^\s@]+@[^\s@]+$/.test(value))
}

/** Returns the origin of a URL on another site, or undefined for a path. */
export function originOf(address: string): string | undefined {
  return address.startsWith('/') ? undefined : new URL(address).origin
}

/** Checks whether a URL leads to a style sheet. */
export function isStyleSheet(address: string): boolean {
  return /\.css([?#]|$)/.test(address)
}

/** Checks whether a value is an array whose items all pass the check. */
export function isListOf(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne)
}

/** Checks whether a value is an origin, such as `https://cdn.example`. */
export function isOrigin(value: unknown): boolean {
  // Must be exactly an origin, because it is inserted into the Content-Security-Policy.
  return typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value
}

/** Returns the URL of a login page that leads back to a page. */
export function loginAddress(loginUrl: string, page: string): string {
  return withParameter(loginUrl, 'redirect_to', page)
}

/**
 * Returns the URL of a login page for a guest. If the browser has sent a session, also stores the requested page where
 * Passport's `successReturnToOrRedirect` option reads it.
 */
export function guestLoginAddress(request: RoutedRequest, loginUrl: string, page: string): string {
  const path = ownPath(page)
  if (path === undefined) return loginUrl
  // Anything stored in a new session would keep a session for every visit of a bot.
  const visit = visitOf(request)
  if (visit?.session && hasSentSession(visit)) visit.session.returnTo = path
  return loginAddress(loginUrl, path)
}

/** Returns the path and query of a page on this site, or undefined for anything that could lead to another site. */
export function ownPath(page: string): string | undefined {
  // Browsers drop some control characters, and read a backslash as a slash.
  if (!isAddress(page) || /[^!-~]/.test(page)) return undefined
  const { origin, pathname, search } = new URL(page, 'http://own.invalid')
  return origin === 'http://own.invalid' && !pathname.startsWith('//') ? pathname + search : undefined
}

/** Checks whether a request has the cookie of its session. New sessions get an id that is in no cookie yet. */
function hasSentSession({ sessionID = '', raw: { headers } }: Visit): boolean {
  return sessionID !== '' && [sessionID, encodeURIComponent(sessionID)].some((id) => headers.cookie?.includes(id))
}

/** Adds a parameter to the query of a URL. */
export function withParameter(url: string, name: string, value: string): string {
  const [address = '', ...fragment] = url.split('#')
  const target = `${address}${address.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
  return [target, ...fragment].join('#')
}

/**
 * Returns the path at which a page is mounted, as requested by the browser. Merges slashes, because a URL that starts
 * with two of them would lead to another site.
 */
export function mountPath({ baseUrl = '' }: Pick<RoutedRequest, 'baseUrl'>): string {
  return baseUrl.replaceAll(/[\\/]+/g, '/') || '/'
}
