import type { RedisClient } from '../redis-client.ts'

/** The public methods of a node-redis client that the watch uses. */
export interface TrackableClient extends RedisClient {
  readonly isReady: boolean
  /** Undefined in version 5 if no options were passed. */
  readonly options?: { readonly keyPrefix?: unknown; readonly commandOptions?: object; readonly socket?: SocketOptions }
  duplicate(overrides: object): TrackableClient
  connect(): Promise<unknown>
  destroy(): void
  unref(): void
  sendCommand(args: readonly string[]): Promise<unknown>
  on(event: string, listener: (argument: unknown) => void): unknown
  off(event: string, listener: (argument: unknown) => void): unknown
}

/** How a node-redis client connects to its server. */
export interface SocketOptions {
  readonly path?: string
}

/**
 * Thrown if the server, or a proxy in front of it, cannot be trusted to report every change. Retrying would not help.
 */
export class NotBelievable extends Error {}

/** Thrown if the server's tracking table is too small for the keys that it should watch. */
export class TooLittleRoom extends Error {}

/** Returns why a client cannot be used to track changes on any server, or undefined if it can. */
export function whyNotTrackable(client: Partial<TrackableClient> & object): string | undefined {
  if (client.execute || client.use || client.getNodeClientForKey || 'masters' in client) {
    return 'the client is a pool, a sentinel or a cluster, which may read a session and its user over two connections'
  }
  const needed = [client.duplicate, client.destroy, client.sendCommand, client.on, client.off]
  const isNodeRedis = needed.every((method) => typeof method === 'function')
  return isNodeRedis ? undefined : 'the client is not from the redis package, version 5 or later'
}

/** Creates a client like the given one, used only to track changes. */
export function trackingClient(client: TrackableClient): TrackableClient {
  const { options = {} } = client
  const { typeMapping } = (options.commandOptions ?? {}) as { typeMapping?: unknown }
  return client.duplicate({
    RESP: 3,
    emitInvalidate: true,
    clientSideCache: undefined,
    // Moving to another server would replace the socket and silently lose everything the old one watched.
    maintNotifications: 'disabled',
    // A queued command could be sent on a connection that does not watch anything yet.
    disableOfflineQueue: true,
    socket: { ...options.socket, reconnectStrategy: false },
    // A timeout or an abort could drop one of two commands that belong together.
    commandOptions: { typeMapping, timeout: undefined },
  })
}
