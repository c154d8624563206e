import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Middleware } from '../../service/sessmgr.ts'
import { answerOf } from '../answer-of.ts'

/** What is mounted. */
export interface FastifyRoutesOptions {
  /** `limiter.router()` or `limiter.admin()`. */
  readonly serve: Middleware
}

/**
 * Mounts the REST routes, or the admin screen, below a prefix.
 *
 * @example
 * await app.register(fastifyRoutes, { prefix: '/api', serve: limiter.router() })
 */
export const fastifyRoutes: FastifyPluginAsync<FastifyRoutesOptions> = async (fastify, { serve }) => {
  const { prefix } = fastify
  // The routes read their bodies themselves, and say in their own words what is wrong with one.
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null))

  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const { raw, ip, body, originalUrl } = request
    const answer = await answerOf(serve, raw, { prefix, url: originalUrl, originalUrl, ip, body })
    if (!answer) return reply.callNotFound()
    return reply.code(answer.status).headers(answer.headers).send(answer.body)
  }
  fastify.all('/', handle)
  fastify.all('/*', handle)
}
