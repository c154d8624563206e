import type { FastifyReply } from 'fastify'

/** Leaves a cookie in the browser that @fastify/session takes away with whatever it answers. */
export function keepCookie(reply: FastifyReply, name: string): void {
  const cookies = [reply.getHeader('set-cookie') ?? []].flat().map(String)
  const kept = cookies.filter((cookie) => !cookie.startsWith(`${name}=;`))
  reply.removeHeader('set-cookie')
  if (kept.length > 0) reply.header('set-cookie', kept)
}
