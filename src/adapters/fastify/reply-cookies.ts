import type { FastifyReply } from 'fastify'

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

/** Keeps a cookie that @fastify/session would remove from the browser with any response. */
export function keepCookie(reply: FastifyReply, name: string): void {
  replaceCookies(
    reply,
    cookiesOf(reply).filter((cookie) => !cookie.startsWith(`${name}=;`)),
  )
}

function cookiesOf(reply: FastifyReply): string[] {
  return [reply.getHeader('set-cookie') ?? []].flat().map(String)
}

function replaceCookies(reply: FastifyReply, cookies: string[]): void {
  reply.removeHeader('set-cookie')
  if (cookies.length > 0) reply.header('set-cookie', cookies)
}
