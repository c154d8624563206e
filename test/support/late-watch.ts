import type { NodeRedis } from './redis-client.ts'

/** Has the connections that a client is duplicated into go through a proxy, and its own not. */
export function duplicatesThrough(client: NodeRedis, port: number): void {
  const duplicate = client.duplicate.bind(client)
  Object.assign(client, {
    duplicate: (overrides: { socket: object }) =>
      duplicate({ ...overrides, url: undefined, socket: { ...overrides.socket, port } } as never),
  })
}
