import type { HostRequest } from '../guard/host-types.ts'

const NAMESPACES = ['/sessmgr/v1', '/lazycomments/v1', '/wp/v2']

/** Reads the path of a request below the router; undefined for one that belongs to the application. */
export function restPath(request: HostRequest): string | undefined {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
  return NAMESPACES.some((namespace) => path === namespace || path.startsWith(`${namespace}/`)) ? path : undefined
}
