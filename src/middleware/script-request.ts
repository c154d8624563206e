import type { HostRequest } from '../guard/host-types.ts'

/** Checks whether the body of a request is JSON, which only scripts send. */
export function sendsJson({ headers }: Pick<HostRequest, 'headers'>): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')
}

/** Checks whether a request prefers JSON to a page. */
export function asksForJson(request: HostRequest): boolean {
  if (request.accepts) return request.accepts(['html', 'json']) === 'json'
  return accepts(request, 'json') && !accepts(request, 'html')
}

/** Checks whether a request comes from a script that could not show a page. */
export function cannotShowPages(request: HostRequest): boolean {
  return asksForJson(request) || (sendsJson(request) && !accepts(request, 'html'))
}

function accepts({ headers }: HostRequest, type: string): boolean {
  return headers.accept?.includes(type) === true
}
