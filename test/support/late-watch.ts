import type { NodeRedis } from './redis-client.ts'

/** Sends the connections of a client's duplicates through a proxy, but not its own. */
export function duplicatesThrough(client: NodeRedis, port: number): void {
  const duplicate = client.duplicate.bind(client)
  Object.assign(client, {
    duplicate: (overrides: { socket: object }) =>
      duplicate({ ...overrides, url: undefined, socket: { ...overrides.socket, port } } as never),
  })
}
