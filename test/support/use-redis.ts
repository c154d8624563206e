import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest'
import { connectRedis, type NodeRedis } from './redis-client.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { startProxy } from './tcp-proxy.ts'

/** The Redis server of a test file. */
interface OwnRedis {
  readonly server: RedisServer
  readonly client: NodeRedis
}

/** Starts a server for the tests of a file, and a connection to it. The server is empty when a test begins. */
export function useRedis(): OwnRedis {
  const own = {} as { -readonly [key in keyof OwnRedis]: OwnRedis[key] }
  beforeAll(async () => {
    // Not every runtime can start one in a worker.
    const given = process.env.TEST_REDIS_URL
    if (given === undefined) own.server = await startRedis()
    own.client = await connectRedis(given ?? own.server.url)
  })
  beforeEach(() => own.client.flushAll())
  afterAll(async () => {
    own.client?.destroy()
    await own.server?.stop()
  })
  return own
}

/** Starts a private server and a proxy in front of it, until the test has finished. */
export async function startProxiedRedis(extra?: readonly string[]) {
  const server = await startRedis(extra)
  onTestFinished(() => server.stop())
  const proxy = await startProxy(server.port)
  onTestFinished(() => proxy.stop())
  return { server, proxy }
}
