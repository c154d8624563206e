import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

/** Destinations that browsers navigate to although no one reads them as a page. */
const PARTS = ['embed', 'object']
/** Headers of scripts that load HTML. Browsers omit `Sec-Fetch-Mode` on plain HTTP. */
const SCRIPTS = ['x-requested-with', 'turbo-frame', 'x-turbo-request-id', 'hx-request']
/** Responses without a body. The browser keeps showing its current page. */
const EMPTY = [204, 205, 304]

/** Error statuses of pages that ask the user to sign in, and show the notice. */
const SIGN_IN = [401, 403]

/** Marks a request whose notice the application has read. A WeakMap would keep requests in memory. */
const GIVEN = Symbol.for('sessmgr.notice')

interface MarkedRequest {
  [GIVEN]?: 'page' | 'script'
}

/** Notes that the application has read the notice of a request, for a page or for a script. */
export function noteGiven(request: object, given: 'page' | 'script'): void {
  ;(request as MarkedRequest)[GIVEN] = given
}

/** Returns whether a request's notice was read for a page or for a script. Undefined if it was not read. */
export function givenTo(request: object): 'page' | 'script' | undefined {
  return (request as MarkedRequest)[GIVEN]
}

/**
 * Checks whether a response is a page that a person sees, or the notice that a script asked for. Until then, the
 * browser keeps the cookie of an ended session, so that the application can show why it ended. Any other script, an
 * image or a redirect would use up the notice unseen.
 *
 * @param status Status of the response.
 */
export function showsPage(request: Pick<IncomingMessage, 'headers'>, status: number): boolean {
  const { headers } = request
  if (givenTo(request) === 'script') return true
  const mode = headers['sec-fetch-mode']
  // Browsers omit the header on plain HTTP, and other clients always do.
  const isNavigation = mode === undefined || mode === 'navigate'
  return isNavigation && !isUnseen(headers) && (status < 300 || status >= 400)
}

/** Checks whether a request asks for a page, judging by its headers. */
export function asksForPage({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const mode = headers['sec-fetch-mode']
  // Without the header, only the accepted types distinguish a page from an image or from data for a script.
  const isNavigation = mode === undefined ? /\bhtml\b/.test(headers.accept ?? '') : mode === 'navigate'
  return isNavigation && !isUnseen(headers)
}

/**
 * Checks whether a person will see what the application has put into a response. Call it before the headers are sent.
 */
export function isShown(request: IncomingMessage, response: ServerResponse): boolean {
  const { statusCode } = response
  // Most error pages come from frameworks and do not show the notice. Downloads are not displayed. A page that
  // refreshes is replaced at once.
  if (statusCode >= 400 && !SIGN_IN.includes(statusCode)) return false
  if (/^attachment\b/i.test(String(response.getHeader('content-disposition'))) || response.hasHeader('refresh'))
    return false
  const type = String(response.getHeader('content-type') ?? 'html')
  const hasBody = request.method !== 'HEAD' && !EMPTY.includes(statusCode)
  return asksForPage(request) && showsPage(request, statusCode) && hasBody && /\bhtml\b|\+xml\b/.test(type)
}

/** Checks whether a browser loads a page without showing it yet, or a script loads part of a page. */
function isUnseen(headers: IncomingHttpHeaders): boolean {
  const isAhead = /\bprefetch\b/.test(String(headers['sec-purpose'] ?? headers.purpose ?? headers['x-moz']))
  const isByScript = SCRIPTS.some((name) => name in headers)
  return isAhead || isByScript || PARTS.includes(String(headers['sec-fetch-dest']))
}
