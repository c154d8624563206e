import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

/** Destinations that browsers navigate to although no one reads them as a page. */
const PARTS = ['embed', 'object']
/** Responses without a body. The browser keeps showing its current page. */
const EMPTY = [204, 205, 304]

/**
 * Checks whether a response is a page that a person sees. Until then, the browser keeps the cookie of an ended session,
 * so that the application can show why it ended. A script, an image or a redirect would use up the notice unseen.
 *
 * @param status Status of the response.
 */
export function showsPage({ headers }: Pick<IncomingMessage, 'headers'>, status: number): boolean {
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
  const type = String(response.getHeader('content-type') ?? 'html')
  const hasBody = request.method !== 'HEAD' && !EMPTY.includes(statusCode)
  return asksForPage(request) && showsPage(request, statusCode) && hasBody && /\bhtml\b|\+xml\b/.test(type)
}

/** Checks whether a browser loads a page without showing it, at least for now. */
function isUnseen(headers: IncomingHttpHeaders): boolean {
  const isAhead = /\bprefetch\b/.test(String(headers['sec-purpose'] ?? headers.purpose))
  return isAhead || PARTS.includes(String(headers['sec-fetch-dest']))
}
