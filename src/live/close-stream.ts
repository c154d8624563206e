import type { ServerResponse } from 'node:http'
import type { LiveEnd } from './live-end.ts'

/** Longer than anyone keeps a page open. Browsers then do not reconnect. */
const NEVER_MS = 86_400_000

/** Closes a response that is still being sent. */
export function closeStream(response: ServerResponse, end: LiveEnd, closeAfterMs: number): void {
  if (response.writableEnded || response.destroyed) return
  const isUnknown = end.code === 'try_again'
  if (!response.headersSent && !isUnknown) {
    refuseStream(response)
    return ignoreWrites(response)
  }
  // Ending any other response would make it look complete.
  if (!response.headersSent || !isEventStream(response)) return void response.destroy()
  response.end(isUnknown ? '' : lastEvent(end))
  ignoreWrites(response)
  const timer = setTimeout(() => response.destroy(), closeAfterMs).unref()
  response.once('close', () => clearTimeout(timer))
}

/** Answers a request without a session. After 204, an `EventSource` does not reconnect. */
export function refuseStream(response: ServerResponse): void {
  response.writeHead(isEventStream(response) ? 204 : 401, { 'Cache-Control': 'no-store' }).end()
}

/**
 * Ignores what the application still writes, until `close` informs it. If the client does not read, `close` comes late,
 * and a write after the end would crash the process. So would a header. Middleware such as express-session delays the
 * end, and would still send what is written in between.
 */
function ignoreWrites(response: ServerResponse): void {
  response.on('error', () => {})
  const ignore = () => response
  const write = (...parts: readonly unknown[]) => {
    const written = parts.at(-1)
    if (typeof written === 'function') process.nextTick(written)
    return true
  }
  const headers = {
    writeHead: ignore,
    setHeader: ignore,
    setHeaders: ignore,
    appendHeader: ignore,
    removeHeader: ignore,
  }
  const end = (...parts: readonly unknown[]) => {
    write(...parts)
    return response
  }
  Object.assign(response, { ...headers, write, end })
}

/**
 * Also looks at the headers as they were sent, because `getHeader` does not know those that were only passed to
 * `writeHead`. A response without headers is judged by its request.
 */
function isEventStream(response: ServerResponse): boolean {
  const { accept } = response.req.headers
  const { _header: sent } = response as { _header?: string | null }
  const types = [accept, response.getHeader('content-type'), /^content-type:.*/im.exec(sent ?? '')]
  return types.some((type) => String(type).includes('text/event-stream'))
}

/** Begins with an empty line, because the application may have written only part of an event. */
function lastEvent(end: LiveEnd): string {
  if (end.code === 'session_replaced') return '\n\nevent: sessmgr-replaced\ndata: {"code":"session_replaced"}\n\n'
  return `\n\nretry: ${NEVER_MS}\nevent: sessmgr-ended\ndata: ${JSON.stringify(end)}\n\n`
}
