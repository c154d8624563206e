import type { ServerResponse } from 'node:http'
import type { LiveEnd } from './live-end.ts'

/** Longer than anyone keeps a page open. Browsers then do not reconnect. */
const NEVER_MS = 86_400_000

/** Closes a response that is still being sent. */
export function closeStream(response: ServerResponse, end: LiveEnd, closeAfterMs: number): void {
  if (response.writableEnded || response.destroyed) return
  const isUnknown = end.code === 'try_again'
  if (!response.headersSent && !isUnknown) return refuseStream(response)
  // Ending any other response would make it look complete.
  if (!response.headersSent || !isEventStream(response)) return void response.destroy()
  response.end(isUnknown ? '' : lastEvent(end))
  const timer = setTimeout(() => response.destroy(), closeAfterMs).unref()
  response.once('close', () => clearTimeout(timer))
}

/** Answers a request without a session. After 204, an `EventSource` does not reconnect. */
export function refuseStream(response: ServerResponse): void {
  response.writeHead(isEventStream(response) ? 204 : 401, { 'Cache-Control': 'no-store' }).end()
}

/** Looks at the request as well, because Node does not keep headers that are only passed to `writeHead`. */
function isEventStream(response: ServerResponse): boolean {
  const { accept } = response.req.headers
  return [accept, response.getHeader('content-type')].some((type) => String(type).includes('text/event-stream'))
}

/** Begins with an empty line, because the application may have written only part of an event. */
function lastEvent(end: LiveEnd): string {
  if (end.code === 'session_replaced') return '\n\nevent: sessmgr-replaced\ndata: {"code":"session_replaced"}\n\n'
  return `\n\nretry: ${NEVER_MS}\nevent: sessmgr-ended\ndata: ${JSON.stringify(end)}\n\n`
}
