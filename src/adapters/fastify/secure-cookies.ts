import type { FastifyReply } from 'fastify'

/** Such a cookie is void without `Secure`, which @fastify/session leaves out as it takes a cookie from the browser. */
const INSECURE = /^__(Host|Secure)-(?!.*;\s*Secure\s*(;|$))/i

/** Adds what browsers demand of cookies with the names `__Host-…` and `__Secure-…`. */
export function secureCookies(reply: FastifyReply): void {
  const cookies = [reply.getHeader('set-cookie') ?? []].flat().map(String)
  if (!cookies.some((cookie) => INSECURE.test(cookie))) return
  reply.removeHeader('set-cookie')
  reply.header(
    'set-cookie',
    cookies.map((cookie) => (INSECURE.test(cookie) ? `${cookie}; Secure` : cookie)),
  )
}
