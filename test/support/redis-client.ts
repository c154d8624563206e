import { createClient, type RedisClientOptions } from 'redis'

/** A connected client of node-redis, as an application makes it. */
export type NodeRedis = Awaited<ReturnType<typeof connectRedis>>

// The client's own timeout ends when a command has been sent; the store's deadline covers the whole call.
const WITHOUT_TIMEOUT = { commandOptions: { timeout: undefined } as object }

/** Connects to a test server. If the server is down, resolves anyway, and connects as soon as possible. */
export async function connectRedis(url: string, options: RedisClientOptions = WITHOUT_TIMEOUT) {
  const client = createClient({ ...options, url })
  client.on('error', () => {})
  const connected = client.connect().catch(() => {})
  await Promise.race([connected, new Promise((resolve) => client.once('error', resolve))])
  return client
}
