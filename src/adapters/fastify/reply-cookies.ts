import type { FastifyReply } from 'fastify'
import { changeCookies } from '../../guard/request/change-cookies.ts'
import { cookiesOf } from '../../guard/request/cookies-of.ts'

/** Matches cookies that are invalid without `Secure`, which @fastify/session omits when it removes a cookie. */
const INSECURE = /^__(Host|Secure)-(?!.*;\s*Secure\s*(;|$))/i

/** Adds the attributes that browsers require for cookies named `__Host-…` and `__Secure-…`. */
export function secureCookies(reply: FastifyReply): void {
  const cookies = cookiesOf(reply)
  if (!cookies.some((cookie) => INSECURE.test(cookie))) return
  replaceCookies(
    reply,
    cookies.map((cookie) => (INSECURE.test(cookie) ? `${cookie}; Secure` : cookie)),
  )
}

/**
 * Delays the removal of a cookie, which @fastify/session does with any response, until the headers are sent.
 *
 * @param isPage Whether this response may remove the cookie. If not, the browser keeps it.
 */
export function delayRemoval(reply: FastifyReply, name: string, isPage: boolean): void {
  const { raw } = reply
  const isRemoval = (cookie: string) => cookie.startsWith(`${name}=;`)
  const cookies = cookiesOf(reply)
  const removal = cookies.find(isRemoval)
  if (removal === undefined) return
  replaceCookies(
    reply,
    cookies.filter((cookie) => !isRemoval(cookie)),
  )
  if (!isPage) return
  changeCookies(raw, () => {
    const others = cookiesOf(raw).filter((cookie) => !isRemoval(cookie))
    raw.setHeader('Set-Cookie', [...others, removal])
  })
}

function replaceCookies(reply: FastifyReply, cookies: string[]): void {
  reply.removeHeader('set-cookie')
  if (cookies.length > 0) reply.header('set-cookie', cookies)
}
