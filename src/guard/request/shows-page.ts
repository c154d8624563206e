import type { IncomingMessage } from 'node:http'

/**
 * Reports whether an answer is a page that a person sees. The cookie of an ended session, by which the application learns
 * why, stays in the browser until then: a script, an image or a redirect would use the notice up unseen.
 *
 * @param status Status of the answer.
 */
export function showsPage({ headers }: Pick<IncomingMessage, 'headers'>, status: number): boolean {
  const mode = headers['sec-fetch-mode']
  // Browsers leave the header out on plain HTTP, and so do clients that are no browsers.
  const isNavigation = mode === undefined || mode === 'navigate'
  return isNavigation && (status < 300 || status >= 400)
}
