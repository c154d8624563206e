import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { GuardedRequest } from '../host-types.ts'
import { changeCookies } from '../request/change-cookies.ts'
import { cookiesOf } from '../request/cookies-of.ts'
import { NOTICE_COOKIE } from './notice-parts.ts'

/** Browsers accept this name only from the host itself, so no subdomain can plant a notice. */
const HOST_NAME = `__Host-${NOTICE_COOKIE}`

/** How long a notice waits for a page to show it, and how long pages repeat it afterwards. */
export const NOTICE_MS = 10 * 60_000

/** The cookie that keeps the notice of a request. It has the attributes of the session cookie. */
export class NoticeCookie {
  readonly #name: string
  readonly #attributes: { path: string; domain?: string; secure: boolean; httpOnly: true; sameSite: 'lax' }
  /** The value that the request sent. */
  readonly sent: string | undefined
  /** Names of all cookies in the request that may be the notice cookie. */
  readonly #names: readonly string[]

  constructor(request: GuardedRequest, message: IncomingMessage) {
    const { path = '/', domain, secure } = request.cookieScope ?? request.session?.cookie ?? {}
    const isSecure = secure === undefined ? isEncrypted(message) : secure === true
    const isOfHost = isSecure && path === '/' && !domain
    this.#name = isOfHost ? HOST_NAME : NOTICE_COOKIE
    this.#attributes = { path, ...(domain && { domain }), secure: isSecure, httpOnly: true, sameSite: 'lax' }
    const cookies = parseCookie(message.headers.cookie ?? '')
    this.sent = cookies[this.#name]
    this.#names = [HOST_NAME, NOTICE_COOKIE].filter((name) => cookies[name] !== undefined)
  }

  set(response: ServerResponse, value: string): void {
    const cookie = stringifySetCookie({ name: this.#name, value, ...this.#attributes, maxAge: NOTICE_MS / 1000 })
    const others = cookiesOf(response).filter((other) => !other.startsWith(`${this.#name}=`))
    response.setHeader('Set-Cookie', [...others, cookie])
  }

  /** Removes the cookie, and cookies that look like it, from the browser, unless the response sets a new one. */
  clear(response: ServerResponse): void {
    for (const name of this.#names) {
      if (cookiesOf(response).some((cookie) => cookie.startsWith(`${name}=`))) continue
      const secure = this.#attributes.secure || name === HOST_NAME
      append(response, stringifySetCookie({ name, value: '', ...this.#attributes, secure, expires: new Date(0) }))
    }
  }
}

/** Removes the notice of a request whose user has signed in. */
export function clearNotice(request: GuardedRequest, message: IncomingMessage, response: ServerResponse): void {
  const cookie = new NoticeCookie(request, message)
  changeCookies(response, () => cookie.clear(response))
}

/** Checks for HTTPS, which a proxy may have terminated. A client that lies about it only loses its own cookie. */
function isEncrypted({ socket, headers }: IncomingMessage): boolean {
  return (socket as TLSSocket).encrypted === true || /^https\b/.test(String(headers['x-forwarded-proto']))
}

function append(response: ServerResponse, cookie: string): void {
  response.setHeader('Set-Cookie', [...cookiesOf(response), cookie])
}
