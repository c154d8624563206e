import type { Readable } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Middleware } from '../../service/service.ts'
import { answerOf, type Mounting } from '../answer-of.ts'

/** Key that marks a reply that shared caches may store. */
const PUBLIC = Symbol('sessmgr.public')

type MarkedReply = FastifyReply & { [PUBLIC]?: boolean }

/** Options of the `fastifyRoutes` plugin. */
export interface FastifyRoutesOptions {
  /** `limiter.router()` or `limiter.admin()`. */
  readonly serve: Middleware
}

/**
 * Mounts the REST routes, or the admin screen, under a prefix.
 *
 * @example
 * await app.register(fastifyRoutes, { prefix: '/api', serve: limiter.router() })
 */
export const fastifyRoutes: FastifyPluginAsync<FastifyRoutesOptions> = async (fastify, { serve }) => {
  const { prefix } = fastify
  // The routes read and check request bodies themselves.
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  // Runs after the hook that sets the session cookie.
  fastify.addHook('onSend', async (_request, reply, payload) => {
    if ((reply as MarkedReply)[PUBLIC]) reply.removeHeader('set-cookie')
    return payload
  })

  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const { raw, ip, originalUrl } = request
    const payload = request.body as Readable | undefined
    const vary = reply.getHeader('vary')?.toString()
    const mounting = { ...mountingOf(request, prefix), originalUrl, ip, own: request, payload, vary }
    const answer = await answerOf(serve, raw, mounting)
    // If a hook has replaced the body stream, leaving the new one unread would block the connection.
    if (payload !== raw) payload?.resume()
    if (!answer) return reply.callNotFound()
    if (answer.isPublic) (reply as MarkedReply)[PUBLIC] = true
    // An empty string would get a content type. After a 304, a cache would store this type for its copy of the page.
    return reply
      .code(answer.status)
      .headers(answer.headers)
      .send(answer.body || undefined)
  }
  fastify.all('/', handle)
  fastify.all('/*', handle)
}

/**
 * Splits the path of a request after its prefix. Counts segments, because parameters, rewritten URLs or ignored slashes
 * can change the length of the prefix.
 */
function mountingOf(request: FastifyRequest, prefix: string): Pick<Mounting, 'baseUrl' | 'url'> {
  const depth = prefix.split('/').filter(Boolean).length
  const path = pathOf(request.url)
  const rest = path.replace(new RegExp(`^(?:/+[^/]+){${depth}}`), '')
  const asked = pathOf(request.originalUrl)
  const base = (asked.endsWith(rest) ? asked : path).slice(0, -rest.length || undefined)
  const found = (request.params as { '*'?: string })['*'] ?? ''
  // Fastify may be configured to ignore duplicate slashes.
  const tidy = /^\/|\/\//.test(found) ? rest : rest.replaceAll(/\/{2,}/g, '/')
  return {
    // A URL that starts with two slashes points to another site.
    baseUrl: base.replaceAll(/[\\/]+/g, '/'),
    url: (tidy === '' ? '/' : tidy) + request.url.slice(path.length),
  }
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}
