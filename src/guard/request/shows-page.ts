import type { IncomingMessage } from 'node:http'

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
  return isNavigation && (status < 300 || status >= 400)
}
