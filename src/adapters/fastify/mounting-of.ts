import type { FastifyRequest } from 'fastify'

/** Where a request found its routes. */
export interface FastifyMounting {
  /** Path below which they stand, as the browser asked for it. */
  readonly baseUrl: string
  /** Path below it, and the query. */
  readonly url: string
}

/**
 * Cuts the path of a request behind its prefix, which holds as many names as the one that was registered: a parameter, a
 * rewritten address or slashes that do not count make it longer or shorter.
 */
export function mountingOf(request: FastifyRequest, prefix: string): FastifyMounting {
  const depth = prefix.split('/').filter(Boolean).length
  const path = pathOf(request.url)
  const rest = path.replace(new RegExp(`^(?:/+[^/]+){${depth}}`), '')
  const asked = pathOf(request.originalUrl)
  const base = (asked.endsWith(rest) ? asked : path).slice(0, -rest.length || undefined)
  const found = (request.params as { '*'?: string })['*'] ?? ''
  // Where Fastify was told to, it has overlooked them.
  const tidy = /^\/|\/\//.test(found) ? rest : rest.replaceAll(/\/{2,}/g, '/')
  return {
    // An address that begins with two slashes names another site.
    baseUrl: base.replaceAll(/[\\/]+/g, '/'),
    url: (tidy === '' ? '/' : tidy) + request.url.slice(path.length),
  }
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}
