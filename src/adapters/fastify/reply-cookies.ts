import type { FastifyReply } from 'fastify'

/** Such a cookie is void without `Secure`, which @fastify/session leaves out as it takes a cookie from the browser. */
const INSECURE = /^__(Host|Secure)-(?!.*;\s*Secure\s*(;|$))/i

/** Adds what browsers demand of cookies with the names `__Host-…` and `__Secure-…`. */
export function secureCookies(reply: FastifyReply): void {
  const cookies = cookiesOf(reply)
  if (!cookies.some((cookie) => INSECURE.test(cookie))) return
  replaceCookies(
    reply,
    cookies.map((cookie) => (INSECURE.test(cookie) ? `${cookie}; Secure` : cookie)),
  )
}

/** Leaves a cookie in the browser that @fastify/session takes away with whatever it answers. */
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
