import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { asUnavailable, visitOf } from '../../extend.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { requireKnown } from '../../ground/option-checks.ts'
import type { LiveSocket } from './close-connection.ts'

/** A server of the http or https module. */
export interface UpgradableServer {
  /** Adds a listener for upgrades. */
  on(event: 'upgrade', listener: HandleUpgrade): unknown
  /** Returns the number of listeners for an event. */
  listenerCount?(event: 'upgrade'): number
}

/** An Express-style middleware. */
export type UpgradeMiddleware = (request: never, response: never, next: (error?: unknown) => void) => unknown

/** A `WebSocketServer` of the ws package, with `noServer: true`. */
export interface SocketServer {
  /** Completes the handshake. */
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    done: (socket: LiveSocket, request: IncomingMessage) => void,
  ): void
  /** Passes an open socket to the application. */
  emit(event: 'connection', socket: unknown, request: IncomingMessage): unknown
}

const DETACHED = 'new WebSocketServer({ noServer: true })'

const UNCHECKED = 'Yours accepts upgrades itself, and checks neither their origin nor their session'

/** Options of `live.upgrade()`. */
export interface UpgradeOptions {
  /** The sites whose pages may connect, such as `https://example.com`. @default the host of the request */
  readonly origins?: readonly string[] | undefined
  /**
   * The only path to handle. Upgrades to other paths are left to other listeners, or refused with 404 if there are
   * none.
   * @default all paths
   */
  readonly path?: string | undefined
}

/** Handles a server's upgrades. `open` receives each socket before the application does. */
export function handleUpgrades(
  server: UpgradableServer,
  chain: readonly UpgradeMiddleware[],
  sockets: SocketServer,
  options: UpgradeOptions,
  open: (request: IncomingMessage, socket: LiveSocket) => void,
): void {
  checkUpgrade(server, chain, sockets, options)
  const { origins, path } = options
  handlePath(server, path, (request, socket, head) => {
    if (!isOwnOrigin(request.headers, origins)) return refuse(socket, 403)
    const response = new ServerResponse(request)
    response.assignSocket(socket as Socket)
    // A middleware that responds, for example with a redirect, ends the upgrade.
    response.once('finish', () => endSocket(socket))
    runChain(chain, request, response, (error) => {
      if (response.headersSent || socket.destroyed) return
      if (error || !visitOf(request)?.sessmgr?.session) return respond(response, error)
      response.detachSocket(socket as Socket)
      sockets.handleUpgrade(request, socket, head, (opened) => {
        open(request, opened)
        sockets.emit('connection', opened, request)
      })
    })
  })
}

function checkUpgrade(server: unknown, chain: unknown, sockets: unknown, options: UpgradeOptions): void {
  const call = 'live.upgrade(server, [sessions, limiter], wss)'
  const { on, use } = Object(server) as { on?: unknown; use?: unknown }
  // An Express or Koa application is an event emitter too, but never emits `upgrade`.
  if (typeof on !== 'function' || typeof use === 'function') {
    throw invalidOption(
      `${call} needs the server that app.listen() or http.createServer() returns, not the application`,
    )
  }
  if (!Array.isArray(chain) || chain.length === 0 || !chain.every((one) => typeof one === 'function')) {
    throw invalidOption(`${call} needs the session middleware and the limiter, in this order`)
  }
  if (typeof (sockets as SocketServer | null)?.handleUpgrade !== 'function') {
    throw invalidOption(`${call} needs ${DETACHED} from the ws package`)
  }
  const { options: own } = sockets as { options?: { noServer?: unknown } }
  if (own && own.noServer !== true) throw invalidOption(`${call} needs ${DETACHED}. ${UNCHECKED}`)
  requireKnown(options, ['origins', 'path'], (name) => `live.upgrade() has no option "${name}"`)
  const { origins, path } = options
  checkOrigins(origins)
  if (path !== undefined && !(typeof path === 'string' && path.startsWith('/'))) {
    throw invalidOption('"path" must be a path such as "/live"')
  }
}

/**
 * Checks whether an upgrade comes from a page of this site. Any site can ask for one, and browsers send `Origin` and
 * cookies with it.
 *
 * Without `origins`, the scheme is not compared, because it is unknown behind a proxy that terminates TLS.
 */
function isOwnOrigin({ origin = '', host }: IncomingHttpHeaders, origins: readonly string[] | undefined): boolean {
  const site = siteOf(origin)
  if (site === undefined) return false
  if (origins) return origins.some((one) => siteOf(one) === site)
  const [scheme] = site.split('//')
  return siteOf(`${scheme}//${host}`) === site
}

/** Checks the `origins` option. @throws SessmgrError `invalid_option`. */
function checkOrigins(origins: unknown): void {
  const isSite = (one: unknown) => typeof one === 'string' && siteOf(one) !== undefined
  if (origins !== undefined && !(Array.isArray(origins) && origins.every(isSite))) {
    throw invalidOption('"origins" must be an array of URLs without a path, such as "https://example.com"')
  }
}

/** Returns a site in lower case without the default port, or undefined for anything else. */
function siteOf(text: string): string | undefined {
  const isSite = /^https?:\/\/[^\s/@?#\\]+$/i.test(text) && URL.canParse(text)
  return isSite ? new URL(text).origin : undefined
}

type HandleUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** Upgrade handlers of each server, by path. The handler under undefined handles all other paths. */
const HANDLERS = new WeakMap<UpgradableServer, Map<string | undefined, HandleUpgrade>>()

/**
 * Handles upgrades to a path, or to all paths that have no handler of their own.
 *
 * @throws SessmgrError `invalid_option` if there already is such a handler.
 */
function handlePath(server: UpgradableServer, path: string | undefined, handle: HandleUpgrade): void {
  const handlers = HANDLERS.get(server) ?? listen(server)
  if (handlers.has(path)) {
    throw invalidOption(`live.upgrade() already handles ${path ?? 'all paths'} on this server. Pass another "path"`)
  }
  handlers.set(path, handle)
}

/** Adds one listener to a server for all calls, because only a shared listener knows which upgrades no call handles. */
function listen(server: UpgradableServer): Map<string | undefined, HandleUpgrade> {
  const handlers = new Map<string | undefined, HandleUpgrade>()
  HANDLERS.set(server, handlers)
  server.on('upgrade', (request, socket, head) => {
    const handle = handlers.get(request.url?.split('?')[0]) ?? handlers.get(undefined)
    // Another listener may handle the upgrade, now or later.
    if (!handle && server.listenerCount?.('upgrade') !== 1) return
    // Without an `error` listener, a client that resets its connection would crash the process.
    socket.on('error', () => socket.destroy())
    if (handle) handle(request, socket, head)
    else refuse(socket, 404)
  })
  return handlers
}

/** Refuses an upgrade with an HTTP status. */
function refuse(socket: Duplex, status: number): void {
  endSocket(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/**
 * Ends a socket after pending writes, then destroys it. Nothing reads it, so a close by the client would go unnoticed.
 */
function endSocket(socket: Duplex, last = ''): void {
  socket.once('finish', () => socket.destroy())
  socket.end(last)
}

function runChain(
  [first, ...rest]: readonly UpgradeMiddleware[],
  request: IncomingMessage,
  response: ServerResponse,
  done: (error?: unknown) => void,
): void {
  if (!first) return done()
  let isCalled = false
  const next = (error?: unknown) => {
    if (isCalled) return
    isCalled = true
    if (error) done(error)
    else runChain(rest, request, response, done)
  }
  const run = async () => first(request as never, response as never, next)
  run().catch(next)
}

/** Refuses an upgrade with the headers that the chain has set, such as one that clears an ended session's cookie. */
function respond(response: ServerResponse, given: unknown): void {
  const error = asUnavailable(given)
  const { status, headers } = error instanceof SessmgrError ? error : { status: error ? 500 : 401, headers: undefined }
  response.writeHead(status, { ...headers, 'Content-Length': 0, Connection: 'close' }).end()
}
