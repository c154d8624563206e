import type { FastifyRequest } from 'fastify'

/** The mount path of the routes for a request. */
export interface FastifyMounting {
  /** Mount path, as the browser requested it. */
  readonly baseUrl: string
  /** Path below it, and the query. */
  readonly url: string
}

/**
 * Splits the path of a request after its prefix. The prefix has as many segments as registered, but parameters,
 * rewritten URLs or ignored slashes change its length.
 */
export function mountingOf(request: FastifyRequest, prefix: string): FastifyMounting {
  const depth = prefix.split('/').filter(Boolean).length
  const path = pathOf(request.url)
  const rest = path.replace(new RegExp(`^(?:/+[^/]+){${depth}}`), '')
  const asked = pathOf(request.originalUrl)
  const base = (asked.endsWith(rest) ? asked : path).slice(0, -rest.length || undefined)
  const found = (request.params as { '*'?: string })['*'] ?? ''
  // If configured so, Fastify has ignored duplicate slashes.
  const tidy = /^\/|\/\//.test(found) ? rest : rest.replaceAll(/\/{2,}/g, '/')
  return {
    // A URL that begins with two slashes points to another site.
    baseUrl: base.replaceAll(/[\\/]+/g, '/'),
    url: (tidy === '' ? '/' : tidy) + request.url.slice(path.length),
  }
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}
