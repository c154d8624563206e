import type { ServerResponse } from 'node:http'

/**
 * Sends a response without cookies: a cache must not hand the cookie of one reader to the next. A session sets its own
 * only when the headers go out, so setting one from now on does nothing.
 */
export function keepCookiesOut(response: ServerResponse): void {
  response.removeHeader('Set-Cookie')
  const setHeader = response.setHeader.bind(response)
  response.setHeader = (name, value) => (name.toLowerCase() === 'set-cookie' ? response : setHeader(name, value))
}
