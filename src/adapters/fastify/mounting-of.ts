import type { FastifyRequest } from 'fastify'

/** Where the routes are mounted, as seen by a request. */
export interface FastifyMounting {
  /** Mount path, as the browser requested it. */
  readonly baseUrl: string
  /** The rest of the path, and the query. */
  readonly url: string
}

/**
 * Splits the path of a request after its prefix. The prefix has as many segments as were registered, but parameters,
 * rewritten URLs or ignored slashes can change its length.
 */
export function mountingOf(request: FastifyRequest, prefix: string): FastifyMounting {
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
