import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const running: ChildProcess[] = []

/** Starts a private Redis server on a free port. */
export async function startRedis(): Promise<{ url: string; port: number }> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  running.push(spawn('redis-server', args, { stdio: 'ignore' }))
  for (let tries = 0; !(await isOpen(port)); tries++) {
    if (tries > 250) throw new Error('redis-server did not start within 5 s')
    await sleep(20)
  }
  return { url: `redis://127.0.0.1:${port}`, port }
}

/** Starts the benchmark's application and returns its address. */
export async function startApp(kind: 'plain' | 'protected', redisUrl: string): Promise<string> {
  const app = new URL('./app.ts', import.meta.url).pathname
  const child = spawn(process.execPath, ['--import', 'tsx', app, kind], {
    env: { ...process.env, REDIS_URL: redisUrl, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.push(child)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return `http://127.0.0.1:${line.toString().trim()}`
}

/** Starts the example application, as `npm start` does, and returns its address. */
export async function startExample(env: Record<string, string>): Promise<string> {
  const tsconfig = new URL('../examples/express-app/tsconfig.json', import.meta.url).pathname
  const server = new URL('../examples/express-app/server.ts', import.meta.url).pathname
  const child = spawn(process.execPath, ['--import', 'tsx', server], {
    env: {
      ...process.env,
      TSX_TSCONFIG_PATH: tsconfig,
      NODE_ENV: 'production',
      PORT: '0',
      SESSION_SECRET: 'bench',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.push(child)
  for await (const chunk of child.stdout) {
    const [, url] = /listening on (http:\S+)/.exec(String(chunk)) ?? []
    if (url !== undefined) return url
  }
  throw new Error('The example did not start.')
}

/** Ends every process that was started here. */
export function stopAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** Largest deviation from the median, in percent: the noise of a series. */
export function spread(values: readonly number[]): number {
  const middle = median(values)
  return Math.max(...values.map((value) => Math.abs(value / middle - 1))) * 100
}

/** The value that a part of all values, from 0 to 1, does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0
}

/** Milliseconds of each of `count` runs, one after the other. */
export async function timings(count: number, run: (index: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let index = 0; index < count; index++) {
    const start = performance.now()
    await run(index)
    times.push(performance.now() - start)
  }
  return times
}

/** Forwards connections to a port with a delay each way, and so makes round trips visible. */
export async function delayProxy(target: number, delayMs: number): Promise<number> {
  const server = createServer((inbound) => {
    const outbound = connect(target, '127.0.0.1')
    inbound.on('data', (data) => setTimeout(() => outbound.write(data), delayMs / 2))
    outbound.on('data', (data) => setTimeout(() => inbound.write(data), delayMs / 2))
    for (const socket of [inbound, outbound]) socket.on('error', () => {})
    inbound.on('close', () => outbound.destroy())
  }).listen(0, '127.0.0.1')
  server.unref()
  await once(server, 'listening')
  return (server.address() as { port: number }).port
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
