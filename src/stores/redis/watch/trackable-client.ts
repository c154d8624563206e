import type { RedisClient } from '../redis-client.ts'

/** What the watch asks of a client of node-redis: its public methods alone. */
export interface TrackableClient extends RedisClient {
  readonly isReady: boolean
  /** Version 5 has none where none were given. */
  readonly options?: { readonly keyPrefix?: unknown; readonly commandOptions?: object; readonly socket?: SocketOptions }
  duplicate(overrides: object): TrackableClient
  connect(): Promise<unknown>
  destroy(): void
  unref(): void
  sendCommand(args: readonly string[]): Promise<unknown>
  on(event: string, listener: (argument: unknown) => void): unknown
  off(event: string, listener: (argument: unknown) => void): unknown
}

/** How a client of node-redis reaches its server. */
export interface SocketOptions {
  readonly path?: string
}

/** The server, or what stands before it, cannot be believed: no further try would change that. */
export class NotBelievable extends Error {}

/** Returns why a client cannot be watched, whatever its server; undefined when it may be. */
export function whyNotTrackable(client: Partial<TrackableClient> & object): string | undefined {
  if (client.execute || client.use || client.getNodeClientForKey || 'masters' in client) {
    return 'the client is a pool, a sentinel or a cluster, so that a session and its user may be read over two connections'
  }
  const needed = [client.duplicate, client.sendCommand, client.on, client.off]
  if (needed.some((method) => typeof method !== 'function')) return 'the client is not one of the package redis'
  return undefined
}

/** Creates a second client like the first, which tells of changes and is used by nobody else. */
export function trackingClient(client: TrackableClient): TrackableClient {
  const { options = {} } = client
  const { typeMapping } = (options.commandOptions ?? {}) as { typeMapping?: unknown }
  return client.duplicate({
    RESP: 3,
    emitInvalidate: true,
    clientSideCache: undefined,
    // A hand-over to another server would exchange the socket, and what the old one watched with it, without a word.
    maintNotifications: 'disabled',
    // A command that waits for a connection would be sent over one that watches nothing yet.
    disableOfflineQueue: true,
    socket: { ...options.socket, reconnectStrategy: false },
    // A timeout or an abort could take one of two commands that belong together.
    commandOptions: { typeMapping, timeout: undefined },
  })
}

/** What a client puts before the keys of its methods, but not before those of `sendCommand`. */
export function keyPrefixOf({ options }: TrackableClient): string {
  return String(options?.keyPrefix ?? '')
}
