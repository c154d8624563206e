import type { RedisClientOptions } from 'redis'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Answer, Browser } from '../../../support/browser.ts'
import { describeFaults } from '../../../support/fault-run.ts'
import { heapInUse } from '../../../support/heap.ts'
import { HttpLoad } from '../../../support/http-load.ts'
import { inParallel } from '../../../support/in-parallel.ts'
import { connectRedis, type NodeRedis } from '../../../support/redis-client.ts'
import { type RedisHost, startRedisHost } from '../../../support/redis-host.ts'
import type { RedisServer } from '../../../support/redis-server.ts'
import { rounds } from '../../../support/rounds.ts'
import type { TcpProxy } from '../../../support/tcp-proxy.ts'
import { startProxiedRedis } from '../../../support/use-redis.ts'

/** Long enough for a slow machine that is asked while all is well. */
const DEADLINE_MS = 1500
/** Keeps everything over a kill. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']

interface World {
  readonly server: RedisServer
  /** Stands between the application and the server. */
  readonly proxy: TcpProxy
  /** Goes past the proxy. */
  readonly admin: NodeRedis
  readonly host: RedisHost
}

async function startWorld(
  redis = DURABLE,
  clientOptions?: RedisClientOptions,
  touchEvery?: number,
  hasOwnClient = false,
): Promise<World> {
  const { server, proxy } = await startProxiedRedis(redis)
  const [client, admin] = await Promise.all([connectRedis(proxy.url, clientOptions), connectRedis(server.url)])
  onTestFinished(() => {
    client.destroy()
    admin.destroy()
  })
  const sessionClient = hasOwnClient ? await connectRedis(proxy.url, clientOptions) : client
  if (hasOwnClient) onTestFinished(() => sessionClient.destroy())
  const host = await startRedisHost({ client, sessionClient, deadlineMs: DEADLINE_MS, touchEvery })
  onTestFinished(() => host.close())
  return { server, proxy, admin, host }
}

/** What everybody gets while the store is still away: a signed-in user, who stays one; somebody who signs in; a stranger. */
async function expectOutage(host: RedisHost, signedIn: Browser): Promise<void> {
  const cookie = signedIn.sessionId()
  const requests = [() => signedIn.get('/me'), () => host.browser().login('bob'), () => signedIn.post('/logout')]
  const answers = await Promise.all([...requests, ...requests].map((request) => request()))
  for (const answer of answers) expectUnavailable(answer)
  expect(signedIn.sessionId()).toBe(cookie)
  await expectStrangersServed(host)
}

function expectUnavailable({ status, headers, setCookies }: Answer): void {
  const retryAfter = headers.get('retry-after')
  expect({ status, retryAfter, setCookies }).toEqual({ status: 503, retryAfter: '2', setCookies: [] })
}

async function expectStrangersServed(host: RedisHost): Promise<void> {
  const { status, text, setCookies } = await host.browser().get('/')
  expect({ status, text, setCookies }).toEqual({ status: 200, text: 'public page', setCookies: [] })
}

async function expectRecovery(host: RedisHost, signedIn: Browser, login = 'carol'): Promise<void> {
  await vi.waitFor(async () => expect(await signedIn.me()).toBe(200), { timeout: 30_000, interval: 50 })
  const { status } = await host.browser().login(login)
  expect(status).toBe(200)
}

const outages: Record<string, { begin(world: World): unknown; end(world: World): unknown }> = {
  'is killed': { begin: ({ server }) => server.kill(), end: ({ server }) => server.restart() },
  'is frozen': {
    begin: ({ server }) => server.process.kill('SIGSTOP'),
    end: ({ server }) => server.process.kill('SIGCONT'),
  },
  'is behind a black hole': {
    begin: ({ proxy }) => proxy.set({ kind: 'black hole' }),
    end: ({ proxy }) => proxy.set({ kind: 'none' }),
  },
  'resets every connection': {
    begin: ({ proxy }) => proxy.set({ kind: 'reset' }),
    end: ({ proxy }) => proxy.set({ kind: 'none' }),
  },
  'never gets its replies through': {
    begin: ({ proxy }) => proxy.set({ kind: 'lost reply' }),
    end: ({ proxy }) => proxy.set({ kind: 'none' }),
  },
  'answers only after the deadline': {
    begin: ({ proxy }) => proxy.set({ kind: 'delay', ms: 2 * DEADLINE_MS }),
    end: ({ proxy }) => proxy.set({ kind: 'none' }),
  },
  'has lost its master and serves nothing stale': {
    async begin({ admin }) {
      await admin.configSet('replica-serve-stale-data', 'no')
      await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    },
    end: ({ admin }) => admin.sendCommand(['REPLICAOF', 'NO', 'ONE']),
  },
}

describe('while Redis', () => {
  for (const [what, { begin, end }] of Object.entries(outages)) {
    it(`${what}: 503 with Retry-After, the cookie stays, strangers are served; then everything goes on`, async () => {
      const world = await startWorld()
      const signedIn = await world.host.signedIn('alice')
      await begin(world)
      await expectOutage(world.host, signedIn)
      await end(world)
      await expectRecovery(world.host, signedIn)
    })
  }

  it('is killed, or frozen, it is the same with a client without an offline queue', async () => {
    const world = await startWorld(DURABLE, { disableOfflineQueue: true })
    const signedIn = await world.host.signedIn('alice')
    await world.server.kill()
    await expectOutage(world.host, signedIn)
    await world.server.restart()
    await expectRecovery(world.host, signedIn)
    world.server.process.kill('SIGSTOP')
    await expectOutage(world.host, signedIn)
    world.server.process.kill('SIGCONT')
    await expectRecovery(world.host, signedIn, 'bob')
  })

  it('is loading its data, everything is refused, and the sessions are there afterwards', async () => {
    // It would load for half a minute if it were not told to make haste.
    const slowToLoad = ['--key-load-delay', '12000', '--loading-process-events-interval-bytes', '1024']
    const world = await startWorld([...slowToLoad, '--save', '', '--appendonly', 'no'])
    const signedIn = await world.host.signedIn('alice')
    await Promise.all(Array.from({ length: 2500 }, (_, index) => world.admin.set(`filler${index}`, 'x'.repeat(50))))
    await world.admin.sendCommand(['SAVE'])
    await world.server.kill()
    const restarted = world.server.restart()
    await vi.waitFor(() => expect(world.admin.get('x')).rejects.toThrow('LOADING'), { timeout: 20_000 })
    await expectOutage(world.host, signedIn)
    await expect(world.admin.get('x')).rejects.toThrow('LOADING')
    await world.admin.configSet('key-load-delay', '0')
    await restarted
    await expectRecovery(world.host, signedIn)
  })

  const refusals: Record<string, { begin(admin: NodeRedis): unknown; end(admin: NodeRedis): unknown }> = {
    'takes no writes (READONLY)': {
      begin: (admin) => admin.sendCommand(['REPLICAOF', '127.0.0.1', '1']),
      end: (admin) => admin.sendCommand(['REPLICAOF', 'NO', 'ONE']),
    },
    'has no memory left (OOM)': {
      begin: (admin) => admin.configSet('maxmemory', '1'),
      end: (admin) => admin.configSet('maxmemory', '0'),
    },
  }
  for (const [what, { begin, end }] of Object.entries(refusals)) {
    it(`${what}: logins are answered 503, and whoever is signed in stays so`, async () => {
      // Every request would note that its session is in use.
      const { admin, host } = await startWorld(DURABLE, undefined, 0)
      const signedIn = await host.signedIn('alice')
      await begin(admin)
      const load = new HttpLoad(1)
      onTestFinished(() => load.close())
      const cookie = `connect.sid=${signedIn.cookies.get('connect.sid')?.value}`
      expectUnavailable(await host.browser().login('bob'))
      expect(await signedIn.me()).toBe(200)
      // Over one connection, which an error after the answer would break.
      for (let visit = 0; visit < 5; visit++) expect((await load.send(host.origin, '/me', { cookie })).status).toBe(200)
      await expectStrangersServed(host)
      await end(admin)
      await expectRecovery(host, signedIn)
    })
  }

  it('is down from the start, the application starts all the same, and finds it when it is there', async () => {
    const { server, host } = await startWorld()
    const signedIn = await host.signedIn('alice')
    await server.kill()
    const client = await connectRedis(server.url)
    onTestFinished(() => client.destroy())
    const fresh = await startRedisHost({ client, deadlineMs: DEADLINE_MS })
    onTestFinished(() => fresh.close())
    const returning = fresh.browser()
    for (const [name, cookie] of signedIn.cookies) returning.cookies.set(name, cookie)
    await expectOutage(fresh, returning)
    await server.restart()
    await expectRecovery(fresh, returning)
  })

  it('is frozen, it is the same with a client of its own for the session store', async () => {
    const world = await startWorld(DURABLE, undefined, undefined, true)
    const signedIn = await world.host.signedIn('alice')
    world.server.process.kill('SIGSTOP')
    await expectOutage(world.host, signedIn)
    world.server.process.kill('SIGCONT')
    await expectRecovery(world.host, signedIn)
  })

  it.each([
    ['the client', false],
    ['two clients', true],
  ])('is away, no load makes the memory of %s grow', async (_, hasOwnClient) => {
    const { host, proxy } = await startWorld(DURABLE, undefined, undefined, hasOwnClient)
    const signedIn = await host.signedIn('alice')
    const load = new HttpLoad(50)
    onTestFinished(() => load.close())
    const cookie = `connect.sid=${signedIn.cookies.get('connect.sid')?.value}`
    const visit = () => load.send(host.origin, '/me', { cookie })
    const both = async (index: number) =>
      (await (index % 2 ? visit() : load.login(host.origin, 'bob', 'secret'))).status
    await inParallel(rounds(150), 50, visit)
    const before = await heapInUse()
    proxy.set({ kind: 'black hole' })
    const statuses = await inParallel(rounds(150), 50, both)
    await expect.poll(async () => (await heapInUse()) - before).toBeLessThan(20)
    expect(new Set(statuses)).toEqual(new Set([503]))
    proxy.set({ kind: 'none' })
    await expectRecovery(host, signedIn)
  })
})

describeFaults((checkRun) => {
  it('rule 5: whatever fails at random, nobody is admitted too many, every deadline is kept, and it goes on', async () => {
    for (const seed of [1, 3, 5, 16]) await checkRun(seed)
  })
})
