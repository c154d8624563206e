import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { invalidOption } from '../ground/invalid-option.ts'

/** A server of the http or https module. */
export interface UpgradableServer {
  /** Adds a listener for upgrades. */
  on(event: 'upgrade', listener: HandleUpgrade): unknown
  /** Returns how many listeners an event has. */
  listenerCount?(event: 'upgrade'): number
}

type HandleUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** What handles the upgrades of a server, by path. Those without a path handle all others. */
const HANDLERS = new WeakMap<UpgradableServer, Map<string | undefined, HandleUpgrade>>()

/**
 * Handles the upgrades of a path, or of all paths that nothing else handles.
 *
 * @throws SessmgrError `invalid_option` if they are handled already.
 */
export function handlePath(server: UpgradableServer, path: string | undefined, handle: HandleUpgrade): void {
  const handlers = HANDLERS.get(server) ?? listen(server)
  if (handlers.has(path)) {
    throw invalidOption(`live.upgrade() already handles ${path ?? 'all paths'} of this server. Set another "path"`)
  }
  handlers.set(path, handle)
}

/** Adds one listener for all calls, because only then is it known which upgrades none of them handles. */
function listen(server: UpgradableServer): Map<string | undefined, HandleUpgrade> {
  const handlers = new Map<string | undefined, HandleUpgrade>()
  HANDLERS.set(server, handlers)
  server.on('upgrade', (request, socket, head) => {
    const handle = handlers.get(request.url?.split('?')[0]) ?? handlers.get(undefined)
    // Another listener may handle it, now or later.
    if (!handle && server.listenerCount?.('upgrade') !== 1) return
    // Without a listener, a client that resets its connection would crash the process.
    socket.on('error', () => socket.destroy())
    if (handle) handle(request, socket, head)
    else refuse(socket, 404)
  })
  return handlers
}

/** Answers an upgrade with a status. */
export function refuse(socket: Duplex, status: number): void {
  endSocket(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/** Ends a socket after what has been written. Nobody reads it, so the client's end would go unnoticed. */
export function endSocket(socket: Duplex, last = ''): void {
  socket.once('finish', () => socket.destroy())
  socket.end(last)
}
