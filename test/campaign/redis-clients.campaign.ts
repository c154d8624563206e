import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fromGlide } from '../../examples/redis-clients/glide.mjs'
import { fromUpstash } from '../../examples/redis-clients/upstash.mjs'
import { fromIoredis, type RedisClient, redisStore } from '../../src/redis.ts'
import { failuresOf } from '../contracts/failures-of.ts'
import { useStore } from '../contracts/store/use-store.ts'
import { installPackages } from '../support/install-packages.ts'
import { logInAtOnce } from '../support/log-in-at-once.ts'
import { connectRedis, type NodeRedis } from '../support/redis-client.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import { redisDriver, registerRedisDriverContract } from '../support/redis-drivers.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const WIPES = 'deletes every row when it is wiped, and continues to work'

// biome-ignore lint/suspicious/noExplicitAny: the packages are not installed where types are checked.
let glide: any
// biome-ignore lint/suspicious/noExplicitAny: as above.
let upstash: any
let older: NodeJS.Require
let server: RedisServer
let cluster: RedisCluster
let http: Awaited<ReturnType<typeof startHttp>>

beforeAll(async () => {
  const folder = installPackages('redis-clients', {
    '@valkey/valkey-glide': '2.5.2',
    '@upstash/redis': '1.39.0',
    ioredis: '5',
    redis: '5',
  })
  const load = (name: string, file: string) => import(pathToFileURL(join(folder, 'node_modules', name, file)).href)
  glide = await load('@valkey/valkey-glide', 'build-ts/index.js')
  older = createRequire(join(folder, 'package.json'))
  upstash = await load('@upstash/redis', 'nodejs.mjs')
  server = await startRedis()
  cluster = await startCluster()
  http = await startHttp(await connectRedis(server.url))
}, 300_000)
afterAll(async () => {
  await http?.close()
  await cluster?.stop()
  await server?.stop()
})

/** Serves the REST protocol of Upstash in front of a Redis: a command, or several, as JSON. */
async function startHttp(redis: NodeRedis) {
  const answer = async (command: unknown[]) => {
    try {
      return { result: await redis.sendCommand(command.map(String)) }
    } catch (error) {
      return { error: (error as Error).message }
    }
  }
  const listener = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const found = Array.isArray(body[0]) ? await Promise.all(body.map(answer)) : await answer(body)
    response.writeHead('error' in found ? 400 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    close() {
      redis.destroy()
      listener.closeAllConnections()
      return new Promise((resolve) => listener.close(resolve))
    },
  }
}

interface Opened {
  readonly client: RedisClient
  close(): unknown
}

const KINDS: Readonly<Record<string, { leftOut?: string; open(): Promise<Opened> }>> = {
  'Valkey GLIDE': {
    leftOut: WIPES,
    async open() {
      const client = await glide.GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port: server.port }] })
      return { client: fromGlide(client), close: () => client.close() }
    },
  },
  'Valkey GLIDE on a cluster': {
    leftOut: WIPES,
    async open() {
      const addresses = cluster.nodes.map((node) => ({ host: '127.0.0.1', port: node.server.port }))
      const client = await glide.GlideClusterClient.createClient({ addresses })
      return { client: fromGlide(client), close: () => client.close() }
    },
  },
  'redis 5': {
    async open() {
      const client = await older('redis')
        .createClient({ url: server.url })
        .on('error', () => {})
        .connect()
      return { client, close: () => client.destroy() }
    },
  },
  'redis 5 on a cluster': {
    async open() {
      const rootNodes = cluster.nodes.map((node) => ({ url: node.server.url }))
      const client = older('redis')
        .createCluster({ rootNodes })
        .on('error', () => {})
      await client.connect()
      return { client, close: () => client.destroy() }
    },
  },
  'ioredis 5': {
    async open() {
      const redis = new (older('ioredis').Redis)(server.url)
      return { client: fromIoredis(redis), close: () => redis.disconnect() }
    },
  },
  'ioredis 5 on a cluster': {
    async open() {
      const nodes = cluster.nodes.map((node) => ({ host: '127.0.0.1', port: node.server.port }))
      const redis = new (older('ioredis').Cluster)(nodes)
      return { client: fromIoredis(redis), close: () => redis.disconnect() }
    },
  },
  'the REST protocol of Upstash': {
    async open() {
      const options = { automaticDeserialization: false, enableAutoPipelining: false, responseEncoding: false }
      return {
        client: fromUpstash(new upstash.Redis({ url: http.url, token: 'x', enableTelemetry: false, ...options })),
        close() {},
      }
    },
  },
}

it.each(Object.keys(KINDS))('the driver contract, a whole store, and parallel logins are exact by %s', async (name) => {
  const { leftOut, open } = KINDS[name] as (typeof KINDS)[string]
  const [one, two] = await Promise.all([open(), open()])
  let prefixes = 0
  const create = async () => {
    const prefix = `${name} ${++prefixes}:`
    const pass = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms + 20))
    return {
      driver: redisDriver(one.client, prefix),
      another: async () => redisDriver(two.client, prefix),
      pass,
      close: async () => {},
    }
  }
  const failures = await failuresOf(
    (runner) => registerRedisDriverContract({ ...runner, create }),
    leftOut ? [leftOut] : [],
  )
  expect(failures).toEqual({})
  const stores = [one, two].map(({ client }) => redisStore({ client, prefix: `${name}:`, tracking: false })) as [
    ReturnType<typeof redisStore>,
    ReturnType<typeof redisStore>,
  ]
  if (!leftOut) await useStore(...stores)
  await logInAtOnce(stores)
  await Promise.all(stores.map((store) => store.close()))
  for (const { close } of [one, two]) await close()
})
