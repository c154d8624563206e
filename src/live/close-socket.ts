import { invalidOption } from '../ground/invalid-option.ts'
import { CLOSE_CODES, type LiveEnd } from './live-end.ts'

/** A WebSocket of the ws package, which express-ws and @fastify/websocket also use. */
export interface LiveSocket {
  /** Begins to close the connection. */
  close(code: number, reason: string): void
  /** Closes the connection without waiting for the client. */
  terminate(): void
  /** Adds a listener. */
  on(event: string, listener: () => void): unknown
  /** Calls the listeners of an event. */
  emit(event: string, ...parameters: unknown[]): boolean
  /** State of the connection; 3 means closed. */
  readonly readyState?: number
}

/** Returns a WebSocket of the ws package as it is. @throws SessmgrError `invalid_option` for anything else. */
export function requireSocket(socket: LiveSocket): LiveSocket {
  const has = (name: keyof LiveSocket) => typeof socket?.[name] === 'function'
  if (has('close') && has('terminate') && has('on') && has('emit')) return socket
  throw invalidOption('live.socket(request, socket) needs a WebSocket of the ws package')
}

/** Closes a WebSocket, and hands no further message to the application. */
export function closeSocket(socket: LiveSocket, end: LiveEnd, closeAfterMs: number): void {
  const emit = socket.emit.bind(socket)
  // Until the client confirms, its messages would still be handled.
  socket.emit = (event, ...parameters) => event !== 'message' && emit(event, ...parameters)
  const reason = end.code === 'session_ended' ? JSON.stringify(end) : end.code
  socket.close(CLOSE_CODES[end.code], reason)
  const timer = setTimeout(() => socket.terminate(), closeAfterMs).unref()
  socket.on('close', () => clearTimeout(timer))
}
