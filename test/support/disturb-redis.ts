import { setTimeout as sleep } from 'node:timers/promises'
import { connectRedis, type NodeRedis } from './redis-client.ts'

/** What happens to a server and to the connections of its user `serving`, once. */
const DISTURBANCES = {
  'all connections are closed': (client: NodeRedis) => kill(client, () => true),
  'the watched connection is closed': (client: NodeRedis) => kill(client, isTracking),
  "the application's connection is closed": (client: NodeRedis) => kill(client, (flags) => !isTracking(flags)),
  async 'clients are evicted'(client: NodeRedis) {
    await client.sendCommand(['CLIENT', 'NO-EVICT', 'ON'])
    await client.configSet('maxmemory-clients', '1')
    await client.configSet('maxmemory-clients', '0')
  },
  'everything is deleted': (client: NodeRedis) => client.flushAll(),
  async 'keys are evicted'(client: NodeRedis) {
    const filling = 'x'.repeat(10_000)
    const keys = Array.from({ length: 100 }, () => `filling:${Math.random()}`)
    await Promise.all(keys.map((key) => client.set(key, filling, { expiration: { type: 'EX', value: 600 } })))
  },
} satisfies Record<string, (client: NodeRedis) => Promise<unknown>>

export type Disturbance = keyof typeof DISTURBANCES

const isTracking = (flags: string) => flags.includes('t')

async function kill(client: NodeRedis, matches: (flags: string) => boolean): Promise<void> {
  for (const line of String(await client.sendCommand(['CLIENT', 'LIST'])).split('\n')) {
    const [, id = '', flags = '', user] = /^id=(\d+) .* flags=(\S+) .* user=(\S+)/.exec(line) ?? []
    if (user === 'serving' && matches(flags)) await client.sendCommand(['CLIENT', 'KILL', 'ID', id])
  }
}

/** The same clock in all processes of a machine. */
export function now(): number {
  return Number(process.hrtime.bigint())
}

/** Disturbs something repeatedly; `stop` waits for the last disturbance. */
export function disturb(everyMs: number, once: () => Promise<unknown>) {
  let isOn = true
  const times: (readonly [begun: number, done: number])[] = []
  const disturbing = (async () => {
    while (isOn) {
      await sleep(everyMs * (0.2 + 0.8 * Math.random()))
      const begun = now()
      await once()
      times.push([begun, now()])
    }
  })()
  return {
    count: () => times.length,
    /** Checks whether a disturbance happened between two points in time. */
    isWithin: (begun: number, done: number) => times.some(([from, to]) => from < done && to > begun),
    stop() {
      isOn = false
      return disturbing
    },
  }
}

/** Disturbs a server repeatedly. */
export function disturbRedis(url: string, how: Disturbance, everyMs: number) {
  let client: NodeRedis | undefined
  const disturbing = disturb(everyMs, async () => {
    client ??= await connectRedis(url)
    await DISTURBANCES[how](client)
  })
  return {
    ...disturbing,
    async stop() {
      await disturbing.stop()
      client?.destroy()
    },
  }
}
