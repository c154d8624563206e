import { setTimeout as sleep } from 'node:timers/promises'
import { connectRedis } from './redis-client.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { startProxy, type TcpProxy } from './tcp-proxy.ts'

/** How a replica replaces its primary. */
export type Failover = 'the primary dies' | 'the primary becomes a replica'

/** A primary and its replica, and addresses that lead to the current primary. */
export interface FailoverRedis {
  /** Leads to the new primary at once. */
  readonly early: TcpProxy
  /** Leads to the new primary a while after the old one has become its replica. */
  readonly late: TcpProxy
  /** Cuts the replica off, so that a failover loses what is written from now on. */
  detach(): Promise<void>
  failOver(how: Failover): Promise<void>
  stop(): Promise<void>
}

const WAIT_MS = 10_000

/** @param extra Further options of both servers. */
export async function startFailover(extra: readonly string[] = []): Promise<FailoverRedis> {
  const options = ['--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0', ...extra]
  let [primary, replica] = await Promise.all([startRedis(options), startRedis(options)])
  await follow(replica, primary)
  const [early, late] = [await startProxy(primary.port), await startProxy(primary.port)]

  return {
    early,
    late,
    detach: () => command(replica, ['REPLICAOF', 'NO', 'ONE']),
    async failOver(how) {
      const old = primary
      if (how === 'the primary dies') await old.kill()
      await command(replica, ['REPLICAOF', 'NO', 'ONE'])
      primary = replica
      replica = old
      early.lead(primary.port)
      if (how === 'the primary dies') {
        late.lead(primary.port)
        await old.restart()
        return follow(old, primary)
      }
      await follow(old, primary)
      await sleep(300 * Math.random())
      late.lead(primary.port)
    },
    async stop() {
      await Promise.all([early.stop(), late.stop()])
      await Promise.all([primary.stop(), replica.stop()])
    },
  }
}

/** Makes a server the replica of another, and waits until it is in step. */
async function follow(server: RedisServer, primary: RedisServer): Promise<void> {
  await command(server, ['REPLICAOF', '127.0.0.1', String(primary.port)])
  const client = await connectRedis(primary.url)
  await client.set('in step', '1')
  if ((await client.wait(1, WAIT_MS)) < 1) throw new Error('The replica did not get in step with its primary.')
  client.destroy()
}

async function command(server: RedisServer, parts: readonly string[]): Promise<void> {
  const client = await connectRedis(server.url)
  await client.sendCommand([...parts])
  client.destroy()
}
