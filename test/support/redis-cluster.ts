import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createCluster } from 'redis'
import { connectRedis, type NodeRedis } from './redis-client.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

const MASTERS = 3
const run = promisify(execFile)

/** Three primaries, each with a third of the slots. */
export interface RedisCluster {
  readonly nodes: readonly ClusterNode[]
  connect(account?: Account): Promise<ClusterClient>
  /** Returns which primary has the slot of a key. */
  ownerOf(key: string): Promise<{ slot: number; owner: ClusterNode }>
  stop(): Promise<void>
}

export interface ClusterNode {
  readonly id: string
  readonly server: RedisServer
  /** A client for this primary only. */
  readonly admin: NodeRedis
}

export type ClusterClient = Awaited<ReturnType<typeof connectCluster>>

/** Starts a cluster on free ports of 127.0.0.1 and waits until it serves every slot. */
export async function startCluster(): Promise<RedisCluster> {
  const options = ['--cluster-enabled', 'yes', '--save', '', '--appendonly', 'no']
  const servers = await Promise.all(Array.from({ length: MASTERS }, () => startRedis(options)))
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`)
  await run('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'])
  const nodes = await Promise.all(servers.map(async (server) => describeNode(server)))
  for (const { admin } of nodes) {
    while (!String(await admin.sendCommand(['CLUSTER', 'INFO'])).includes('cluster_state:ok')) await sleep(20)
  }
  return {
    nodes,
    connect: (account) => connectCluster(servers, account),
    async ownerOf(key) {
      const { admin } = nodes[0] as ClusterNode
      const slot = Number(await admin.sendCommand(['CLUSTER', 'KEYSLOT', key]))
      const ranges = (await admin.sendCommand(['CLUSTER', 'SLOTS'])) as unknown as SlotRange[]
      const owner = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][2]
      return { slot, owner: nodes.find(({ id }) => id === owner) as ClusterNode }
    },
    async stop() {
      for (const { admin } of nodes) admin.destroy()
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}

/** A user of Redis, with its password. */
interface Account {
  readonly username?: string
  readonly password?: string
}

type SlotRange = readonly [from: number, to: number, master: readonly [host: string, port: number, id: string]]

async function connectCluster(servers: readonly RedisServer[], account: Account = {}) {
  const client = createCluster({ rootNodes: servers.map(({ url }) => ({ url })), defaults: account })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function describeNode(server: RedisServer): Promise<ClusterNode> {
  const admin = await connectRedis(server.url)
  return { id: String(await admin.sendCommand(['CLUSTER', 'MYID'])), server, admin }
}

/** Moves a slot with all its keys to another primary, in at least `holdMs`, while the cluster is in use. */
export async function moveSlot(
  { nodes }: RedisCluster,
  { slot, from, to, holdMs }: { slot: number; from: ClusterNode; to: ClusterNode; holdMs: number },
): Promise<void> {
  const [name, port] = [String(slot), String(to.server.port)]
  await to.admin.sendCommand(['CLUSTER', 'SETSLOT', name, 'IMPORTING', from.id])
  await from.admin.sendCommand(['CLUSTER', 'SETSLOT', name, 'MIGRATING', to.id])
  await sleep(holdMs / 2)
  for (;;) {
    const keys = (await from.admin.sendCommand(['CLUSTER', 'GETKEYSINSLOT', name, '100'])) as unknown as string[]
    if (keys.length === 0) break
    await from.admin.sendCommand(['MIGRATE', '127.0.0.1', port, '', '0', '5000', 'KEYS', ...keys])
  }
  await sleep(holdMs / 2)
  // The new owner first, as the cluster specification requires.
  for (const { admin } of [to, from, ...nodes.filter((node) => node !== to && node !== from)]) {
    await admin.sendCommand(['CLUSTER', 'SETSLOT', name, 'NODE', to.id])
  }
}
