import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Logger, warnOnce } from '../ground/logger.ts'
import { requireBoolean, requireKnown } from '../ground/option-checks.ts'
import type { Login } from '../sessions/session-record.ts'
import { endedBy, type LiveEnd } from './close-connection.ts'
import { checkOrigins, isOwnOrigin, type OriginOptions } from './own-origin.ts'

/** Options of `live.socketIo()`. */
export interface SocketIoOptions extends OriginOptions {
  /** Whether to admit connections without a session, which are not tracked. @default false */
  readonly guests?: boolean | undefined
}

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

const UNCHECKED =
  'socket.io would let clients in unchecked after a lost connection, so all of them are refused. Set ' +
  'connectionStateRecovery: { skipMiddlewares: false }.'
const UNSEEN =
  'Only the first request of each socket.io connection is checked for its site. Update socket.io to 4.6 or later.'

/** What the middleware needs from `liveConnections()`. */
interface IoParts {
  readonly logger: Logger
  readonly closeAfterMs: number
  sessionOf(request: IncomingMessage): Login | undefined
  /** Returns what to call when a client has used its session. */
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
    if (!checkLaterRequests(opened)) warnOnce(logger, 'open-connections', UNSEEN)
    if (!isOwnConnection(opened, origins)) return next(new Error('foreign_origin'))
    if (skipsMiddleware(opened)) {
      warnOnce(logger, 'open-connections', UNCHECKED)
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

/** The error that the client receives as `connect_error`. */
function refusal(end: LiveEnd): Error {
  return Object.assign(new Error(end.code), { data: end })
}

/** A request as engine.io, which handles the HTTP requests of socket.io, passes it to middleware. */
type EngineRequest = IncomingMessage & { readonly _query?: Readonly<Record<string, unknown>> }

interface Engine {
  readonly clients?: Readonly<Record<string, object>>
  use?(middleware: (request: EngineRequest, response: unknown, next: (error?: Error) => void) => void): void
}

/** Engines that check each request. */
const checking = new WeakSet<Engine>()
/** The `origins` option of each middleware that has admitted a connection. */
const admittedBy = new WeakMap<object, Set<OriginOptions['origins']>>()
/** Headers of each connection's requests between its first one and its admission. One of these requests joins. */
const joining = new WeakMap<object, IncomingHttpHeaders[]>()
/** Clients send one or two. */
const MOST_JOINING = 8

/** Whether a connection was opened by a page of this site. Pages of other sites can read only JSONP. */
function isOwnConnection({ request, conn }: LiveIoSocket, origins: OriginOptions['origins']): boolean {
  const sent = [request.headers, ...(joining.get(conn) ?? [])]
  if (asksForJsonp(request) || !sent.every((headers) => isOwnOrigin(headers, origins))) return false
  admittedBy.set(conn, (admittedBy.get(conn) ?? new Set()).add(origins))
  return true
}

/**
 * Makes the engine of a connection check every later request too, because middleware of socket.io sees only the first.
 * Returns false if the engine has no middleware.
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
    // Only clients other than browsers upgrade without an origin. They have been admitted without one.
    const headers = { ...request.headers, upgrade: undefined }
    // Another namespace may let pages of other sites join, so this is not the place to refuse.
    if (!allowed) joining.set(conn, [...(joining.get(conn) ?? []), headers].slice(0, MOST_JOINING))
    const isOwn = !asksForJsonp(request) && [...(allowed ?? [])].every((origins) => isOwnOrigin(headers, origins))
    next(isOwn ? undefined : new Error('foreign_origin'))
  })
  return true
}

/** Whether the response would be a script, which pages of any site can run. */
function asksForJsonp({ _query: query }: EngineRequest): boolean {
  return query?.j !== undefined
}

/** Whether clients that lose their connection come back without any middleware, so that nothing tracks them. */
function skipsMiddleware(socket: object): boolean {
  const { nsp } = socket as { nsp?: { server?: { opts?: { connectionStateRecovery?: Record<string, unknown> } } } }
  return nsp?.server?.opts?.connectionStateRecovery?.skipMiddlewares === true
}

/** Closes a socket of socket.io. Except after `session_ended`, the client reconnects by itself. */
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

/** Cuts a WebSocket off. A client that does not read would keep it for longer. */
function terminate(conn: object): void {
  const { transport } = conn as { transport?: { socket?: { terminate?(): void } } }
  transport?.socket?.terminate?.()
}

/** Calls a function once the socket is closed, even if another middleware refuses it. */
function onIoClose(socket: LiveIoSocket, closed: () => void): void {
  socket.conn.once('close', closed)
  socket.on('disconnect', () => {
    socket.conn.off('close', closed)
    closed()
  })
}
