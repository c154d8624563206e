import type { IncomingHttpHeaders } from 'node:http'
import { onTestFinished } from 'vitest'
import { RestClient } from './rest-client.ts'
import { serve } from './serve.ts'

interface Kept {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly request: IncomingHttpHeaders
  readonly until: number
}

/** Statuses that a cache may keep without being told for how long. */
const HEURISTIC = [200, 203, 204, 300, 301, 404, 405, 410, 414, 501]

/**
 * Starts a shared cache in front of an application. It follows RFC 9111, keeps all that this allows, `Set-Cookie`
 * included, and reports with `X-Cache` whether a response came from the cache. It serves nothing stale, revalidates
 * nothing, and passes on no bodies.
 */
export async function startSharedCache(origin: string): Promise<string> {
  const kept = new Map<string, Kept[]>()
  const client = new RestClient(origin)
  const cache = await serve(async (request, response) => {
    const { url = '/', method = 'GET', headers } = request
    const isRead = method === 'GET'
    const found = isRead && kept.get(url)?.find((one) => one.until > Date.now() && isSelected(one, headers))
    const answer = found || (await client.send(method, url, { headers }))
    const until = found || !isRead ? 0 : Date.now() + secondsOf(answer, headers) * 1000
    const { status, headers: given, text } = answer
    const one = { status, headers: given, text, request: headers, until }
    if (until > Date.now()) kept.set(url, [one, ...(kept.get(url) ?? [])])
    response.writeHead(status, { ...given, 'x-cache': found ? 'hit' : 'miss' }).end(text)
  })
  onTestFinished(cache.close)
  return cache.origin
}

/** Checks whether a stored response matches this request, by the headers it varies on. */
function isSelected({ headers, request }: Kept, asked: IncomingHttpHeaders): boolean {
  const names = (headers.vary ?? '').split(',').map((name) => name.trim().toLowerCase())
  return !names.includes('*') && names.filter(Boolean).every((name) => request[name] === asked[name])
}

/** Returns the seconds for which a shared cache may keep a response. */
function secondsOf({ status, headers }: Pick<Kept, 'status' | 'headers'>, { authorization }: IncomingHttpHeaders) {
  const directives = new Map<string, string | undefined>()
  const control = (headers['cache-control'] ?? '').toLowerCase().split(',')
  for (const [name = '', value] of control.map((one) => one.trim().split('='))) directives.set(name, value)
  if (directives.has('no-store') || directives.has('private') || directives.has('no-cache')) return 0
  if (authorization !== undefined && !directives.has('public') && !directives.has('s-maxage')) return 0
  const explicit = directives.get('s-maxage') ?? directives.get('max-age')
  if (explicit !== undefined) return Number(explicit)
  if (headers.expires !== undefined) return (Date.parse(headers.expires) - Date.now()) / 1000
  const isDated = headers['last-modified'] !== undefined || directives.has('public')
  return isDated && HEURISTIC.includes(status) ? 60 : 0
}
