import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import onHeaders from 'on-headers'
import type { CookieScope, RoutedRequest } from '../host-types.ts'
import { cookiesOf, type Visit } from './visit.ts'

/** Methods whose responses caches do not store, unless they have a `Content-Location` header. */
const UNSTORED = ['POST', 'PUT', 'PATCH', 'DELETE']
/** Matches headers that only shared caches read, instead of `Cache-Control`. */
const FOR_SHARED = /^(?:surrogate|(?:.+-)?cdn-cache)-control$/
const FORBIDS = ['private', 'no-store']

/**
 * Runs `change`, which may set and remove cookies, just before the headers are sent. Used for all frameworks.
 *
 * Does not run `change` for a response that shared caches may store, because they would pass one visitor's cookies to
 * all others. So `change` must be able to wait for a later response. Once it has changed the cookies of a response,
 * shared caches must not store that response.
 *
 * Ignores errors of `change`, which could otherwise be thrown from `writeHead` anywhere in the application.
 */
export function changeCookies(response: ServerResponse, change: () => unknown): void {
  // The response to a WebSocket of socket.io is only a stand-in.
  if (!response.getHeaderNames) return
  onHeaders(response, () => {
    const isStorable = !UNSTORED.includes(response.req?.method ?? '') || response.hasHeader('Content-Location')
    const isShared = isForSharedCaches(response)
    if (isStorable && isShared) return
    const before = String(cookiesOf(response))
    try {
      change()
    } catch {
      // The response matters more than our change.
    }
    if (isShared || String(cookiesOf(response)) === before) return
    makePrivate(response)
    keepPrivate(response)
  })
}

/** Checks whether the application allows shared caches to store a response. */
function isForSharedCaches(response: ServerResponse): boolean {
  const isShared = (names: readonly string[]) => names.includes('public') || names.includes('s-maxage')
  const own = response.getHeaderNames().filter((name) => FOR_SHARED.test(name))
  const lives = ['max-age', 's-maxage', 'public', 'stale-while-revalidate']
  const targeted = own
    .map((name) => directivesOf(response, name))
    .filter((names) => lives.some((it) => names.includes(it)))
  const marked = [directivesOf(response, 'Cache-Control')].filter(isShared)
  return [...targeted, ...marked].some((names) => !FORBIDS.some((name) => names.includes(name)))
}

function makePrivate(response: ServerResponse): void {
  const names = directivesOf(response, 'Cache-Control')
  if (FORBIDS.some((name) => names.includes(name))) return
  const given = [response.getHeader('Cache-Control') ?? []].flat().map(String)
  response.setHeader('Cache-Control', [...given, 'private'].filter((text) => text !== '').join(', '))
}

/**
 * Keeps a response private, because header listeners that the application registered earlier run later and may change
 * it.
 */
function keepPrivate(response: ServerResponse): void {
  const { setHeader } = response
  response.setHeader = (name, value) => {
    setHeader.call(response, name, value)
    const lower = name.toLowerCase()
    if (lower === 'cache-control') makePrivate(response)
    else if (FOR_SHARED.test(lower) && isForSharedCaches(response)) response.removeHeader(name)
    return response
  }
}

/**
 * Returns the names of the directives in a header. A directive limited to some fields, such as `private="x"`, is left
 * out.
 */
function directivesOf(response: ServerResponse, header: string): string[] {
  const text = String(response.getHeader(header) ?? '').toLowerCase()
  const directives = text.replaceAll(/[\w-]+="[^"]*"/g, '').split(',')
  return directives.map((one) => one.split('=', 1)[0]?.trim() ?? '')
}

/**
 * Checks whether the browser uses HTTPS, perhaps terminated by a proxy. A client that lies about it only loses its own
 * cookie.
 */
export function isEncrypted({ socket, headers }: Pick<RoutedRequest, 'socket' | 'headers'>): boolean {
  return socket.encrypted === true || /^https\b/.test(String(headers['x-forwarded-proto']))
}

/** A sessmgr cookie with the session cookie's scope. Scripts cannot read it. */
export class LoginCookie {
  readonly #name: string
  readonly #hostName: string

  constructor(name: string) {
    this.#name = name
    // Browsers accept this name only over HTTPS, and never from another subdomain.
    this.#hostName = `__Host-${name}`
  }

  /** Reads the cookie from a `Cookie` header. */
  read(header: string | undefined, scope: CookieScope): string | undefined {
    return parseCookie(header ?? '')[this.#nameIn(scope)]
  }

  /**
   * Returns the `Set-Cookie` header that stores a value in the browser.
   *
   * @param seconds How long the browser keeps the cookie.
   */
  write(value: string, seconds: number, scope: CookieScope): string {
    return setCookie(this.#nameIn(scope), value, seconds, scope)
  }

  /** Returns the `Set-Cookie` headers that remove the cookie from the browser. */
  remove(scope: CookieScope): readonly string[] {
    return [setCookie(this.#hostName, '', 0, { secure: true }), setCookie(this.#name, '', 0, scope)]
  }

  /** Returns the name of the cookie, and its attributes as in a `Set-Cookie` header. */
  describe(scope: CookieScope): { readonly name: string; readonly attributes: string } {
    const name = this.#nameIn(scope)
    const text = stringifySetCookie({ name, value: '', ...attributesIn(scope) })
    return { name, attributes: text.slice(`${name}=; `.length) }
  }

  #nameIn({ path = '/', secure }: CookieScope): string {
    return secure === true && path === '/' ? this.#hostName : this.#name
  }
}

/** Sends cookies with the response to a request. `sent` is called once the response has the cookies. */
export function sendCookies({ response }: Visit, cookies: readonly string[], sent?: () => void): void {
  if (response) addCookies(response, cookies, sent)
}

/** Adds cookies to a response, replacing earlier ones with the same names. */
export function addCookies(response: ServerResponse, cookies: readonly string[], sent?: () => void): void {
  const names = cookies.map((cookie) => cookie.slice(0, cookie.indexOf('=') + 1))
  // Runs as late as possible, because Koa removes all headers from error responses.
  changeCookies(response, () => {
    const present = cookiesOf(response)
    const others = present.filter((cookie) => !names.some((name) => cookie.startsWith(name)))
    response.setHeader('Set-Cookie', [...others, ...cookies])
    sent?.()
  })
}

function setCookie(name: string, value: string, maxAge: number, scope: CookieScope): string {
  return stringifySetCookie({ name, value, maxAge, ...attributesIn(scope) })
}

function attributesIn({ path = '/', secure, sameSite, partitioned }: CookieScope) {
  const crosses = String(sameSite).toLowerCase() === 'none'
  const site = { sameSite: crosses ? 'none' : 'lax', partitioned: partitioned === true } as const
  return { path, httpOnly: true, secure: secure === true, ...site }
}

/** Values of `Sec-Fetch-Dest` that are only parts of a page, although browsers load them as a navigation. */
const PARTS = ['embed', 'object']
/** Headers of scripts that load HTML. Needed because browsers omit `Sec-Fetch-Mode` on plain HTTP. */
const SCRIPTS = ['x-requested-with', 'turbo-frame', 'x-turbo-request-id', 'hx-request']
/** Statuses of responses without a body, after which the browser keeps showing its current page. */
const EMPTY = [204, 205]

/** Statuses of error pages that ask the user to sign in, and so may show the notice. */
const SIGN_IN = [401, 403]

/** Checks whether a request asks for a page, judging by its headers. */
export function asksForPage({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const mode = headers['sec-fetch-mode']
  // Without `Sec-Fetch-Mode`, only the accepted types distinguish a page from an image or from data for a script.
  const isNavigation = mode === undefined ? /\bhtml\b/.test(headers.accept ?? '') : mode === 'navigate'
  return isNavigation && !isUnseen(headers)
}

/**
 * Checks whether a response is a page whose content the user will see. Any other response, such as an image, a redirect
 * or a download, would use up the notice unseen. Call it before the headers are sent.
 */
export function showsNotice(request: IncomingMessage, response: ServerResponse): boolean {
  const { statusCode } = response
  // Most error pages come from frameworks and do not show the notice.
  if (statusCode >= 300 && !SIGN_IN.includes(statusCode)) return false
  // Downloads are not displayed. A page with a `Refresh` header is replaced at once.
  if (/^attachment\b/i.test(String(response.getHeader('content-disposition'))) || response.hasHeader('refresh'))
    return false
  const type = String(response.getHeader('content-type') ?? 'html')
  const hasBody = request.method !== 'HEAD' && !EMPTY.includes(statusCode)
  return asksForPage(request) && hasBody && /\bhtml\b|\+xml\b/.test(type)
}

/** Checks whether a browser loads a page without showing it yet, or a script loads part of a page. */
function isUnseen(headers: IncomingHttpHeaders): boolean {
  const isAhead = /\bprefetch\b/.test(String(headers['sec-purpose'] ?? headers.purpose ?? headers['x-moz']))
  const isByScript = SCRIPTS.some((name) => name in headers)
  return isAhead || isByScript || PARTS.includes(String(headers['sec-fetch-dest']))
}
