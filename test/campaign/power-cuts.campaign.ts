import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cutPower, type PowerCut } from '../support/power-cut.ts'
import { printFigures } from '../support/print-figures.ts'
import { connectRedis, type NodeRedis } from '../support/redis-client.ts'
import { type RedisHost, startRedisHost } from '../support/redis-host.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const CYCLES = 20
const USERS = 60
/** The longest pause of node-redis between two attempts to connect. */
const RECONNECT_MS = 2200

describe('a Redis with an append-only file, killed and restarted', () => {
  let server: RedisServer
  let client: NodeRedis
  let host: RedisHost
  beforeAll(async () => {
    server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''])
    client = await connectRedis(server.url)
    host = await startRedisHost({ client, deadlineMs: 1000 })
  })
  afterAll(async () => {
    await host.close()
    client.destroy()
    await server.stop()
  })

  it(`loses no confirmed end of a session in ${CYCLES} kills`, async () => {
    const cuts: PowerCut[] = []
    for (let cycle = 0; cycle < CYCLES; cycle++) cuts.push(await cutPower(host, server, USERS))
    const sum = (key: keyof PowerCut) => cuts.reduce((total, cut) => total + cut[key], 0)
    const [confirmed, unconfirmed, revived] = [sum('confirmed'), sum('unconfirmed'), sum('revived')]
    const slowestRecoveryMs = Math.max(...cuts.map(({ recoveryMs }) => recoveryMs))
    printFigures('power cuts', { confirmed, unconfirmed, revived, slowestRecoveryMs })
    expect(revived).toBe(0)
    expect(confirmed).toBeGreaterThan(CYCLES)
    expect(unconfirmed).toBeGreaterThan(CYCLES)
    expect(slowestRecoveryMs).toBeLessThan(RECONNECT_MS + 500)
  })

  it(`loses no confirmed site-wide logout in ${CYCLES} kills`, async () => {
    const { epoch } = host.store
    let confirmed = 0
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      let latest = (await epoch.current()).generation
      const killed = new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 30)).then(() => server.kill())
      const advance = async (): Promise<void> => {
        latest = (await epoch.advance())?.generation ?? latest
        confirmed += 1
        return advance()
      }
      await expect(advance()).rejects.toMatchObject({ code: 'store_unavailable' })
      await killed
      await server.restart()
      await expect
        .poll(async () => (await epoch.current()).generation, { timeout: 10_000, interval: 20 })
        .toBeGreaterThanOrEqual(latest)
    }
    printFigures('site-wide logouts', { confirmed })
    expect(confirmed).toBeGreaterThan(CYCLES)
  })
})
