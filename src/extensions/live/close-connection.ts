import type { ServerResponse } from 'node:http'
import { invalidOption } from '../../ground/invalid-option.ts'
import type { SessionEnd } from '../../index.ts'

/** Why an open connection is closed. */
export interface LiveEnd {
  /**
   * What the client should do.
   *
   * - `session_ended`: the session has ended. Do not reconnect.
   * - `session_replaced`: the user has signed in again with the same browser. Reconnect.
   * - `try_again`: the session could not be checked, or `live.close()` was called. Reconnect later.
   */
  readonly code: 'session_ended' | 'session_replaced' | 'try_again'
  /** How the session ended, if this process knows. */
  readonly kind?: SessionEnd['kind']
}

/** WebSocket close codes. Browsers pass them to `onclose`. */
const CLOSE_CODES = { session_ended: 4401, session_replaced: 4402, try_again: 1013 } as const

export const TRY_AGAIN: LiveEnd = { code: 'try_again' }

/** Returns the `LiveEnd` for the end of a session. */
export function endedBy(kind: SessionEnd['kind'] | undefined): LiveEnd {
  if (kind === undefined) return { code: 'session_ended' }
  return { code: kind === 'replaced' ? 'session_replaced' : 'session_ended', kind }
}

/** A WebSocket of the ws package, which express-ws and @fastify/websocket also use. */
export interface LiveSocket {
  /** Starts the closing handshake. */
  close(code: number, reason: string): void
  /** Closes the connection without waiting for the client. */
  terminate(): void
  /** Adds a listener. */
  on(event: string, listener: () => void): unknown
  /** Calls the listeners of an event. */
  emit(event: string, ...parameters: unknown[]): boolean
  /** Connection state; 3 means closed. */
  readonly readyState?: number
}

/** Returns `socket` if it is a WebSocket of the ws package. @throws SessmgrError `invalid_option` for anything else. */
export function requireSocket(socket: LiveSocket): LiveSocket {
  const has = (name: keyof LiveSocket) => typeof socket?.[name] === 'function'
  if (has('close') && has('terminate') && has('on') && has('emit')) return socket
  throw invalidOption('live.socket(request, socket) needs a WebSocket from ws')
}

/** Closes a WebSocket and drops any further messages from its client. */
export function closeSocket(socket: LiveSocket, end: LiveEnd, closeAfterMs: number): void {
  const emit = socket.emit.bind(socket)
  // Otherwise, the application would handle messages until the client confirms the close.
  socket.emit = (event, ...parameters) => event !== 'message' && emit(event, ...parameters)
  const reason = end.code === 'session_ended' ? JSON.stringify(end) : end.code
  socket.close(CLOSE_CODES[end.code], reason)
  const timer = setTimeout(() => socket.terminate(), closeAfterMs).unref()
  socket.on('close', () => clearTimeout(timer))
}

/** A retry delay longer than anyone keeps a page open, so that browsers do not reconnect. */
const NEVER_MS = 86_400_000

/** Closes a response that has not ended. */
export function closeStream(response: ServerResponse, end: LiveEnd, closeAfterMs: number): void {
  if (response.writableEnded || response.destroyed) return
  const isUnknown = end.code === 'try_again'
  if (!response.headersSent && !isUnknown) {
    refuseStream(response)
    return ignoreWrites(response)
  }
  // Destroy any other response, because ending it would make it look complete.
  if (!response.headersSent || !isEventStream(response)) return void response.destroy()
  response.end(isUnknown ? '' : lastEvent(end))
  ignoreWrites(response)
  const timer = setTimeout(() => response.destroy(), closeAfterMs).unref()
  response.once('close', () => clearTimeout(timer))
}

/** Refuses a request without a session. After a 204, an `EventSource` does not reconnect. */
export function refuseStream(response: ServerResponse): void {
  response.writeHead(isEventStream(response) ? 204 : 401, { 'Cache-Control': 'no-store' }).end()
}

/**
 * Ignores everything written to a response after its end. `close` informs the application of the end, but comes late if
 * the client does not read. Until then, a write or a header would crash the process. Middleware such as express-session
 * delays the end, and would send what is written in between.
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
 * Checks whether a response is an event stream, by its headers or its request's `Accept`. Includes headers already
 * sent, because `getHeader` does not return those that were only passed to `writeHead`.
 */
function isEventStream(response: ServerResponse): boolean {
  const { accept } = response.req.headers
  const { _header: sent } = response as { _header?: string | null }
  const types = [accept, response.getHeader('content-type'), /^content-type:.*/im.exec(sent ?? '')]
  return types.some((type) => String(type).includes('text/event-stream'))
}

/**
 * Returns the last event of a stream. An empty line comes first, because the application may have written only part of
 * an event.
 */
function lastEvent(end: LiveEnd): string {
  if (end.code === 'session_replaced') return '\n\nevent: sessmgr-replaced\ndata: {"code":"session_replaced"}\n\n'
  return `\n\nretry: ${NEVER_MS}\nevent: sessmgr-ended\ndata: ${JSON.stringify(end)}\n\n`
}
