import type { HostRequest, HostResponse } from '../guard/host-types.ts'

const HTML = 'text/html; charset=utf-8'

/** A body, its media type, and who may cache it. */
interface PageBody {
  readonly type: string
  readonly cache: string
  readonly body: Buffer
}

/** Sends a page that is not cached. */
export function sendPage(
  request: HostRequest,
  response: HostResponse,
  status: number,
  text: string,
  type = HTML,
): void {
  response.statusCode = status
  response.setHeader('Referrer-Policy', 'same-origin')
  sendBody(request, response, { type, cache: 'no-store', body: Buffer.from(text) })
}

/** Redirects the browser to another page, which it requests by GET. */
export function redirect(request: HostRequest, response: HostResponse, location: string, sentence = ''): void {
  response.setHeader('Location', location)
  sendPage(request, response, 303, sentence, 'text/plain; charset=utf-8')
}

/** Sends a body with the status that is set on the response. */
export function sendBody(request: HostRequest, response: HostResponse, { type, cache, body }: PageBody): void {
  response.setHeader('Content-Type', type)
  response.setHeader('Cache-Control', cache)
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Content-Length', body.length)
  // Send the headers before `end()`: if one of the application's header listeners throws, express-session must not yet
  // consider the response sent.
  response.writeHead(response.statusCode)
  response.end(request.method === 'HEAD' ? undefined : body)
}
