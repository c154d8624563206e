import type { IncomingMessage } from 'node:http'
import type { LiveEnd } from './live-end.ts'

/** A socket of socket.io 4. */
export interface LiveIoSocket {
  /** The request that opened the connection. */
  readonly request: IncomingMessage
  /** Whether all middleware has admitted the socket. */
  readonly connected: boolean
  /** The connection, which sockets of other namespaces may share. */
  readonly conn: {
    /** Closes the connection, at once or after what has been sent. */
    close(discard?: boolean): unknown
    /** Adds a listener for one event. */
    once(event: 'close', listener: () => void): unknown
    /** Removes a listener. */
    off(event: 'close', listener: () => void): unknown
  }
  /** Sends an event to the client. */
  emit(event: string, data: unknown): unknown
  /** Disconnects the client, which does not reconnect by itself. */
  disconnect(close: boolean): unknown
  /** Adds a listener for the end of the socket. */
  on(event: 'disconnect', listener: () => void): unknown
  /** Adds a listener for all events of the client. */
  onAny(listener: () => void): unknown
}

/** A middleware of socket.io. */
export type IoMiddleware = (socket: LiveIoSocket, next: (error?: Error) => void) => void

/** The error that the client receives as `connect_error`. */
export function refusal(end: LiveEnd): Error {
  return Object.assign(new Error(end.code), { data: end })
}

/** Whether clients that lose their connection come back without any middleware, so that nothing tracks them. */
export function skipsMiddleware(socket: object): boolean {
  const { nsp } = socket as { nsp?: { server?: { opts?: { connectionStateRecovery?: Record<string, unknown> } } } }
  return nsp?.server?.opts?.connectionStateRecovery?.skipMiddlewares === true
}

/** Closes a socket of socket.io. Except after `session_ended`, the client reconnects by itself. */
export function closeIoSocket(socket: LiveIoSocket, end: LiveEnd, closeAfterMs: number): void {
  const isOver = end.code === 'session_ended'
  if (socket.connected && end.code !== 'try_again') socket.emit(isOver ? 'sessmgr:ended' : 'sessmgr:replaced', end)
  if (socket.connected && isOver) socket.disconnect(true)
  else socket.conn.close()
  const { conn } = socket
  setTimeout(() => {
    conn.close(true)
    terminate(conn)
  }, closeAfterMs).unref()
}

/** Cuts a WebSocket off. A client that does not read would keep it for longer. */
function terminate(conn: object): void {
  const { transport } = conn as { transport?: { socket?: { terminate?(): void } } }
  transport?.socket?.terminate?.()
}

/** Calls a function once the socket is closed, even if another middleware refuses it. */
export function onIoClose(socket: LiveIoSocket, closed: () => void): void {
  socket.conn.once('close', closed)
  socket.on('disconnect', () => {
    socket.conn.off('close', closed)
    closed()
  })
}
