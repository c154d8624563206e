import type { ServerResponse } from 'node:http'
import onHeaders from 'on-headers'
import { cookiesOf } from './cookies-of.ts'

/** Methods whose responses no cache stores, unless the response describes a page. */
const UNSTORED = ['POST', 'PUT', 'PATCH', 'DELETE']
/** Headers for shared caches only, which then ignore `Cache-Control`. */
const FOR_SHARED = /^(?:surrogate|(?:.+-)?cdn-cache)-control$/
const FORBIDS = ['private', 'no-store']

/**
 * Runs `change`, which may set and remove cookies, just before the headers are sent. Every framework passes through
 * here.
 *
 * A response that shared caches may store keeps its cookies as they are: the cache would pass one visitor's cookies to
 * all others. What `change` does must be able to wait for another response. If it changes the cookies of any other
 * response, shared caches may no longer store that response.
 *
 * Ignores errors of `change`, which could otherwise be thrown from `writeHead` anywhere in the application.
 */
export function changeCookies(response: ServerResponse, change: () => unknown): void {
  onHeaders(response, () => {
    const isStorable = !UNSTORED.includes(response.req?.method ?? '') || response.hasHeader('Content-Location')
    const isShared = isForSharedCaches(response)
    if (isStorable && isShared) return
    const before = String(cookiesOf(response))
    try {
      change()
    } catch {
      // The response matters more than our change.
    }
    if (isShared || String(cookiesOf(response)) === before) return
    makePrivate(response)
    keepPrivate(response)
  })
}

/** Checks whether the application meant a response for shared caches. */
function isForSharedCaches(response: ServerResponse): boolean {
  const isShared = (names: readonly string[]) => names.includes('public') || names.includes('s-maxage')
  const own = response.getHeaderNames().filter((name) => FOR_SHARED.test(name))
  const lives = ['max-age', 's-maxage', 'public', 'stale-while-revalidate']
  const targeted = own
    .map((name) => directivesOf(response, name))
    .filter((names) => lives.some((it) => names.includes(it)))
  const marked = [directivesOf(response, 'Cache-Control')].filter(isShared)
  return [...targeted, ...marked].some((names) => !FORBIDS.some((name) => names.includes(name)))
}

function makePrivate(response: ServerResponse): void {
  const names = directivesOf(response, 'Cache-Control')
  if (FORBIDS.some((name) => names.includes(name))) return
  const given = [response.getHeader('Cache-Control') ?? []].flat().map(String)
  response.setHeader('Cache-Control', [...given, 'private'].filter((text) => text !== '').join(', '))
}

/** Keeps a response private, because functions that the application has registered earlier run after this. */
function keepPrivate(response: ServerResponse): void {
  const { setHeader } = response
  response.setHeader = (name, value) => {
    setHeader.call(response, name, value)
    const lower = name.toLowerCase()
    if (lower === 'cache-control') makePrivate(response)
    else if (FOR_SHARED.test(lower) && isForSharedCaches(response)) response.removeHeader(name)
    return response
  }
}

/** Returns the names of the directives in a header. A directive limited to some fields, as `private="x"`, is left out. */
function directivesOf(response: ServerResponse, header: string): string[] {
  const text = String(response.getHeader(header) ?? '').toLowerCase()
  const directives = text.replaceAll(/[\w-]+="[^"]*"/g, '').split(',')
  return directives.map((one) => one.split('=', 1)[0]?.trim() ?? '')
}
