import { createSentinel } from 'redis'
import { connectRedis } from './redis-client.ts'
import { type RedisServer, startRedis, startSentinel } from './redis-server.ts'

const IN_STEP_MS = 10_000

/** A primary and its replica. */
export interface ReplicatedRedis {
  readonly master: RedisServer
  readonly replica: RedisServer
  stop(): Promise<void>
}

/**
 * Starts a primary and a replica, and waits until they are in step.
 *
 * @param extra Further options of both servers.
 */
export async function startReplicated(extra: readonly string[] = []): Promise<ReplicatedRedis> {
  // By default, a primary waits some seconds for further replicas before it sends the first its data.
  const options = ['--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0', ...extra]
  const [master, replica] = await Promise.all([startRedis(options), startRedis(options)])
  await follow(replica, master)
  return {
    master,
    replica,
    async stop() {
      await Promise.all([master.stop(), replica.stop()])
    },
  }
}

/** Makes a server the replica of another, and waits until it is in step. */
export async function follow(server: RedisServer, primary: RedisServer): Promise<void> {
  await command(server, ['REPLICAOF', '127.0.0.1', String(primary.port)])
  const client = await connectRedis(primary.url)
  await client.set('in step', '1')
  if ((await client.wait(1, IN_STEP_MS)) < 1) throw new Error('The replica did not get in step with its primary.')
  client.destroy()
}

/** Sends a command to a server. */
export async function command(server: RedisServer, parts: readonly string[]): Promise<void> {
  const client = await connectRedis(server.url)
  await client.sendCommand([...parts])
  client.destroy()
}

/** Starts a sentinel that promotes the replica half a second after the primary has gone. */
export async function startSentinelOf({ master }: ReplicatedRedis): Promise<RedisServer> {
  return startSentinel([
    `sentinel monitor sessions 127.0.0.1 ${master.port} 1`,
    'sentinel down-after-milliseconds sessions 500',
    'sentinel failover-timeout sessions 3000',
  ])
}

/** Connects to the server that a sentinel reports as the primary. */
export async function connectThroughSentinel({ port }: RedisServer) {
  // One reserved connection to the primary for calls that do not wait for a replica. Without it, node-redis's sentinel
  // client loses its other connections one by one and hangs.
  const connections = { masterPoolSize: 8, reserveClient: true }
  const client = createSentinel({ name: 'sessions', sentinelRootNodes: [{ host: '127.0.0.1', port }], ...connections })
  client.on('error', () => {})
  await client.connect()
  return client
}
