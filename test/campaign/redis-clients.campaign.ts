import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fromGlide } from '../../examples/redis-clients/glide.mjs'
import { fromUpstash } from '../../examples/redis-clients/upstash.mjs'
import type { SessmgrStore } from '../../src/index.ts'
import { type RedisClient, redisStore } from '../../src/redis.ts'
import { failuresOf } from '../contracts/failures-of.ts'
import { useStore } from '../contracts/store/use-store.ts'
import { createLimiterWorld, SimpleHost } from '../support/limiter-world.ts'
import { connectRedis, type NodeRedis } from '../support/redis-client.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import { redisDriver, registerRedisDriverContract } from '../support/redis-drivers.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { rounds } from '../support/rounds.ts'

/** As dependencies, they would cost every contributor 25 MB. */
const PACKAGES = { '@valkey/valkey-glide': '2.5.2', '@upstash/redis': '1.39.0' } as const

const folder = join(import.meta.dirname, '../../node_modules/.cache/redis-clients')
const WIPES = 'deletes every row when it is wiped, and continues to work'

// biome-ignore lint/suspicious/noExplicitAny: the packages are not installed where types are checked.
let glide: any
// biome-ignore lint/suspicious/noExplicitAny: as above.
let upstash: any
let server: RedisServer
let cluster: RedisCluster
let http: Awaited<ReturnType<typeof startHttp>>

beforeAll(async () => {
  install()
  const load = (name: string, file: string) => import(pathToFileURL(join(folder, 'node_modules', name, file)).href)
  glide = await load('@valkey/valkey-glide', 'build-ts/index.js')
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

function install(): void {
  if (Object.keys(PACKAGES).every((name) => existsSync(join(folder, 'node_modules', name)))) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const names = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`)
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...names], {
    cwd: folder,
  })
  if (status !== 0) throw new Error(`npm could not install ${names.join(' and ')}.`)
}

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

const LOGINS = 200

/** Logs users in 200 times at once, through both stores, and expects the limit of three to hold. */
async function logInAtOnce(stores: readonly SessmgrStore[]): Promise<void> {
  const host = new SimpleHost()
  const settings = { maximum: 3, logic: 'logout_oldest' }
  const worlds = stores.map((store) => createLimiterWorld({ store, host, settings, deadlineMs: 60_000 }))
  for (let round = 0; round < rounds(2); round++) {
    const user = `user ${round}`
    await Promise.all(Array.from({ length: LOGINS }, (_, login) => worlds[login % 2]?.login(user)))
    for (const { limiter } of worlds) expect(await limiter.sessions.list(user)).toHaveLength(3)
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
