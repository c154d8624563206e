import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Logger, warn } from '../ground/logger.ts'
import { requireBoolean, requireKnown } from '../ground/option-checks.ts'
import type { Login } from '../sessions/session-record.ts'
import { endedBy, type LiveEnd } from './close-connection.ts'
import { checkOrigins, isOwnOrigin, type OriginOptions } from './own-origin.ts'

/** Options of `live.socketIo()`. */
export interface SocketIoOptions extends OriginOptions {
  /** Whether to admit connections without a session, which are not tracked. @default false */
  readonly guests?: boolean | undefined
}

/** A socket.io 4 socket. */
export interface LiveIoSocket {
  /** The request that opened the connection. */
  readonly request: IncomingMessage
  /** Whether all middleware has admitted the socket. */
  readonly connected: boolean
  /** The underlying connection, which sockets of other namespaces may share. */
  readonly conn: {
    /** Closes the connection: at once with `discard`, otherwise after pending writes. */
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
  /** Adds a listener for the socket's disconnection. */
  on(event: 'disconnect', listener: () => void): unknown
  /** Adds a listener for all events from the client. */
  onAny(listener: () => void): unknown
}

/** A socket.io middleware. */
export type IoMiddleware = (socket: LiveIoSocket, next: (error?: Error) => void) => void

const UNCHECKED =
  'socket.io would admit clients unchecked after a lost connection, so all clients are refused. Set ' +
  'connectionStateRecovery: { skipMiddlewares: false }.'
const UNSEEN =
  'Only the first request of each socket.io connection has its origin checked. Update socket.io to 4.6 or later.'

/** What the middleware needs from `liveConnections()`. */
interface IoParts {
  readonly logger: Logger
  readonly closeAfterMs: number
  sessionOf(request: IncomingMessage): Login | undefined
  /** Returns a function that records a use of the session, or undefined if messages do not count as use. */
  useOf(request: IncomingMessage): (() => void) | undefined
  track(session: Login, close: (end: LiveEnd) => void): { stop: () => void; checked: Promise<void> }
}

/** Returns the middleware that admits and tracks sockets. @throws SessmgrError `invalid_option`. */
export function admitIoSockets(parts: IoParts, options: SocketIoOptions): IoMiddleware {
  const { logger, closeAfterMs, sessionOf, useOf, track } = parts
  requireKnown(options, ['origins', 'guests'], (name) => `live.socketIo() has no option "${name}"`)
  const { origins, guests = false } = options
  checkOrigins(origins)
  requireBoolean('guests', guests)
  return (opened, next) => {
    if (!checkLaterRequests(opened)) warn(logger, 'open-connections', UNSEEN)
    if (!isOwnConnection(opened, origins)) return next(new Error('foreign_origin'))
    if (skipsMiddleware(opened)) {
      warn(logger, 'open-connections', UNCHECKED)
      return next(new Error('unchecked_recovery'))
    }
    const session = sessionOf(opened.request)
    if (!session) return next(guests ? undefined : refusal(endedBy(undefined)))
    let over: LiveEnd | undefined
    let isAdmitted = false
    const { stop, checked } = track(session, (end) => {
      over = end
      if (isAdmitted) closeIoSocket(opened, end, closeAfterMs)
    })
    onIoClose(opened, stop)
    const used = useOf(opened.request)
    if (used) opened.onAny(used)
    void checked.then(() => {
      isAdmitted = true
      next(over && refusal(over))
    })
  }
}

/** Returns the error that the client receives as `connect_error`. */
function refusal(end: LiveEnd): Error {
  return Object.assign(new Error(end.code), { data: end })
}

/** A request as engine.io, which handles the HTTP requests of socket.io, passes it to middleware. */
type EngineRequest = IncomingMessage & { readonly _query?: Readonly<Record<string, unknown>> }

interface Engine {
  readonly clients?: Readonly<Record<string, object>>
  use?(middleware: (request: EngineRequest, response: unknown, next: (error?: Error) => void) => void): void
}

/** Engines that already check every request. */
const checking = new WeakSet<Engine>()
/** For each connection, the `origins` options of the middleware that admitted it. */
const admittedBy = new WeakMap<object, Set<OriginOptions['origins']>>()
/**
 * For each connection, the headers of requests after its first and before its admission. One of them joins a namespace.
 */
const joining = new WeakMap<object, IncomingHttpHeaders[]>()
/** Maximum number of requests to keep per connection. Before their admission, clients send only one or two. */
const MOST_JOINING = 8

/** Checks whether a page of this site opened a connection. JSONP is refused, because pages of any site can read it. */
function isOwnConnection({ request, conn }: LiveIoSocket, origins: OriginOptions['origins']): boolean {
  const sent = [request.headers, ...(joining.get(conn) ?? [])]
  if (asksForJsonp(request) || !sent.every((headers) => isOwnOrigin(headers, origins))) return false
  admittedBy.set(conn, (admittedBy.get(conn) ?? new Set()).add(origins))
  return true
}

/**
 * Checks all later requests of a connection in its engine, because socket.io middleware sees only the first. Returns
 * false if the engine does not support middleware.
 */
function checkLaterRequests({ conn }: LiveIoSocket): boolean {
  const { server: engine } = conn as { server?: Engine }
  if (typeof engine?.use !== 'function') return false
  if (checking.has(engine)) return true
  checking.add(engine)
  engine.use((request, _response, next) => {
    const { sid } = request._query ?? {}
    const conn = engine.clients?.[String(sid)] ?? {}
    const allowed = admittedBy.get(conn)
    // Ignore `upgrade`: browsers always send an origin with it, and other clients were already admitted without one.
    const headers = { ...request.headers, upgrade: undefined }
    // Do not refuse yet, because the namespace may allow pages of other sites.
    if (!allowed) joining.set(conn, [...(joining.get(conn) ?? []), headers].slice(0, MOST_JOINING))
    const isOwn = !asksForJsonp(request) && [...(allowed ?? [])].every((origins) => isOwnOrigin(headers, origins))
    next(isOwn ? undefined : new Error('foreign_origin'))
  })
  return true
}

/** Checks whether a request asks for JSONP, a script that pages of any site can run. */
function asksForJsonp({ _query: query }: EngineRequest): boolean {
  return query?.j !== undefined
}

/** Checks whether clients that recover a lost connection skip all middleware, which would leave them untracked. */
function skipsMiddleware(socket: object): boolean {
  const { nsp } = socket as { nsp?: { server?: { opts?: { connectionStateRecovery?: Record<string, unknown> } } } }
  return nsp?.server?.opts?.connectionStateRecovery?.skipMiddlewares === true
}

/** Closes a socket.io socket. Except after `session_ended`, the client reconnects by itself. */
function closeIoSocket(socket: LiveIoSocket, end: LiveEnd, closeAfterMs: number): void {
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

/** Terminates a connection's WebSocket, which a client that does not read would otherwise keep open. */
function terminate(conn: object): void {
  const { transport } = conn as { transport?: { socket?: { terminate?(): void } } }
  transport?.socket?.terminate?.()
}

/** Calls `closed` once the socket has closed, even if another middleware refused it. */
function onIoClose(socket: LiveIoSocket, closed: () => void): void {
  socket.conn.once('close', closed)
  socket.on('disconnect', () => {
    socket.conn.off('close', closed)
    closed()
  })
}
