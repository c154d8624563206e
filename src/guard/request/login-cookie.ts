import type { ServerResponse } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { CookieScope, GuardedRequest } from '../host-types.ts'
import { changeCookies } from './change-cookies.ts'
import { cookiesOf } from './cookies-of.ts'
import { responseTo } from './cut-off.ts'

/** A sessmgr cookie with the session cookie's scope. Scripts cannot read it. */
export class LoginCookie {
  readonly #name: string
  readonly #hostName: string

  constructor(name: string) {
    this.#name = name
    // Browsers accept this name only over HTTPS, and from no other subdomain.
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

  #nameIn({ path = '/', secure }: CookieScope): string {
    return secure === true && path === '/' ? this.#hostName : this.#name
  }
}

/** Returns where the session cookie of a request applies. */
export function scopeOf({ cookieScope, session }: GuardedRequest): CookieScope {
  return cookieScope ?? session?.cookie ?? {}
}

/** Sends cookies with the response to a request. `sent` is called once the response has them. */
export function sendCookies(request: GuardedRequest, cookies: readonly string[], sent?: () => void): void {
  const response = responseTo(request)
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

function setCookie(name: string, value: string, maxAge: number, { path = '/', secure }: CookieScope): string {
  return stringifySetCookie({ name, value, maxAge, path, httpOnly: true, secure: secure === true, sameSite: 'lax' })
}
