import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { heapInUse } from '../support/heap.ts'
import { HttpLoad } from '../support/http-load.ts'
import { inParallel } from '../support/in-parallel.ts'
import { printFigures } from '../support/print-figures.ts'
import { connectRedis } from '../support/redis-client.ts'
import { startRedisHost } from '../support/redis-host.ts'
import { rounds } from '../support/rounds.ts'
import type { TcpProxy } from '../support/tcp-proxy.ts'
import { startProxiedRedis } from '../support/use-redis.ts'

/** With ROUNDS=200, ten minutes. */
const OUTAGE_MS = rounds(3000)
const IN_FLIGHT = 50

const outages: Record<string, (proxy: TcpProxy) => void> = {
  'in a black hole': (proxy) => proxy.set({ kind: 'black hole' }),
  'refusing every connection': (proxy) => proxy.set({ kind: 'reset' }),
}

describe('an application under load', () => {
  const name = `holds no more memory for a Redis that is %s for ${OUTAGE_MS / 1000} s, and goes on afterwards`
  it.each(Object.entries(outages))(name, { timeout: OUTAGE_MS + 60_000 }, async (how, begin) => {
    const { proxy } = await startProxiedRedis()
    const client = await connectRedis(proxy.url)
    onTestFinished(() => client.destroy())
    const host = await startRedisHost({ client })
    onTestFinished(() => host.close())
    const load = new HttpLoad(IN_FLIGHT)
    onTestFinished(() => load.close())

    const { cookie } = await load.login(host.origin, 'alice', 'secret')
    const visit = () => load.send(host.origin, '/me', { cookie })
    await inParallel(2000, IN_FLIGHT, visit)
    const before = await heapInUse()
    begin(proxy)
    const end = performance.now() + OUTAGE_MS
    // Counted, because a list of so many would be what grows.
    const statuses: Record<number, number> = {}
    const keepAsking = async (_: unknown, n: number) => {
      while (performance.now() < end) {
        const answer = await (n % 2 ? visit() : load.login(host.origin, 'bob', 'secret'))
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
        await sleep(2)
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, keepAsking))
    // The host of the tests keeps each error that Express was handed.
    host.errors.length = 0
    const grownMb = (await heapInUse()) - before
    proxy.set({ kind: 'none' })
    await expect.poll(async () => (await visit()).status, { timeout: 10_000, interval: 50 }).toBe(200)
    printFigures(`Redis ${how}`, { statuses, grownMb: Number(grownMb.toFixed(1)) })
    expect(Object.keys(statuses)).toEqual(['503'])
    expect(grownMb).toBeLessThan(10)
  })
})
