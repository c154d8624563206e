import type { ServerResponse } from 'node:http'
import { BoundedMap } from '../../ground/bounded-map.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/session-record.ts'
import type { CookieScope } from '../host-types.ts'
import { addCookies, changeCookies, LoginCookie, sendCookies } from './cookies.ts'
import { appendCookie, cookieScopeOf, cookiesOf, type ResponseLike, type Visit, visitOf } from './visit.ts'

/** The longest time that browsers keep a cookie, in seconds. */
const LIFE = 400 * 24 * 60 * 60
const BYTES = 16
/** Matches the random bytes in base64url. */
const VALUE = /^[\w-]{21}[AQgw]$/
/** 96 bits in base64url. */
const ID_LENGTH = 16

/** The browser of one login. */
export interface LoginDevice {
  /** Identifies the browser to this user only. */
  readonly id: string
  /** Whether the browser has sent the cookie. */
  readonly isSent: boolean
  /** The `Set-Cookie` header for the response to an admitted login. */
  readonly cookie: string
}

/**
 * Recognizes browsers by a random cookie that is set only by admitted logins. The cookie is not an authentication
 * factor: it only decides which of a user's sessions are in the same browser.
 */
export class DeviceCookies {
  readonly #cookie: LoginCookie
  /** Cookies that were not sent with any response yet, by the token of their session. */
  readonly #unsent = new BoundedMap<Token, string>(10_000)

  constructor(name: string) {
    this.#cookie = new LoginCookie(name)
  }

  /**
   * Recognizes the browser of a login by its `Cookie` header. A browser without a valid device cookie gets a new one.
   */
  recognize(userId: UserId, header: string | undefined, scope: CookieScope = {}): LoginDevice {
    const sent = this.#cookie.read(header, scope) ?? ''
    const isSent = VALUE.test(sent)
    const value = isSent ? sent : nodeCrypto().randomBytes(BYTES).toString('base64url')
    const id = nodeCrypto().hash('sha256', value + userId, 'base64url')
    return { id: id.slice(0, ID_LENGTH), isSent, cookie: this.#cookie.write(value, LIFE, scope) }
  }

  /** Recognizes the browser of a request. */
  recognizeRequest(userId: UserId, visit: Visit): LoginDevice {
    return this.recognize(userId, visit.raw.headers.cookie, visit.cookieScope)
  }

  /**
   * Sends the cookie of a browser with the response to its login. If shared caches may store that response, a later
   * response carries the cookie.
   */
  remember({ cookie }: LoginDevice, visit: Visit): void {
    const token = tokenIn(visit)
    if (token) this.#unsent.set(token, cookie)
    sendCookies(visit, [cookie], () => token && this.#unsent.delete(token))
  }

  /** Sends the cookie that the response to the session's login could not carry. */
  readonly resume = (visit: Visit): void => {
    const token = tokenIn(visit)
    const cookie = token && this.#unsent.get(token)
    const response = cookie && visit.response
    if (!response) return
    changeCookies(response, () => {
      if (!this.#unsent.delete(token)) return
      const present = cookiesOf(response)
      // A login by this request may have sent a newer device cookie.
      const isReplaced = present.some((other) => other.startsWith(cookie.slice(0, cookie.indexOf('=') + 1)))
      if (!isReplaced) appendCookie(response, cookie)
    })
  }

  /** Removes the cookie from the browser that receives a response. */
  forget(response: ResponseLike): void {
    const { raw, res } = Object(response) as { raw?: ServerResponse; res?: ServerResponse }
    const target = raw ?? res ?? (response as ServerResponse)
    if (typeof target?.setHeader !== 'function') {
      throw invalidOption('The response is missing: write limiter.forgetDevice(response)')
    }
    const request: object = target.req ?? {}
    const token = tokenIn(visitOf(request))
    if (token) this.#unsent.delete(token)
    addCookies(target, this.#cookie.remove(cookieScopeOf(request)))
  }
}

const tokenIn = (visit: Visit | undefined) => visit?.sessmgr?.session?.token
