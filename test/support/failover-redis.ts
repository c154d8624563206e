import { setTimeout as sleep } from 'node:timers/promises'
import { command, follow, startReplicated } from './redis-replicated.ts'
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

/** @param extra Further options of both servers. */
export async function startFailover(extra: readonly string[] = []): Promise<FailoverRedis> {
  let { master: primary, replica } = await startReplicated(extra)
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
