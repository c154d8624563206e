import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const running = new Set<ChildProcess>()

/** Starts a private Redis server on a free port. */
export async function startRedis(): Promise<{ url: string; port: number }> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  running.add(spawn('redis-server', args, { stdio: 'ignore' }))
  for (let tries = 0; !(await isOpen(port)); tries++) {
    if (tries > 250) throw new Error('redis-server did not start within 5 s')
    await sleep(20)
  }
  return { url: `redis://127.0.0.1:${port}`, port }
}

/** Returns the version of the Redis server on this machine. */
export function redisVersion(): string {
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return /v=(\S+)/.exec(stdout)?.[1] ?? 'unknown'
}

/** What the benchmark's application checks. */
export type Kind = 'plain' | 'limit' | 'naive' | 'protected' | 'fallback' | 'directory' | 'audit'

/** A running application of the benchmark. */
export interface BenchApp {
  readonly kind: Kind
  readonly port: number
  /**
   * Returns the CPU time of the process in microseconds, its heap in bytes after garbage collection, the number of
   * statements it has sent to its database, or the most that sessmgr has sent in one turn of the event loop.
   */
  ask(what: 'cpu' | 'heap' | 'statements' | 'mostInOneTurn'): Promise<number>
  stop(): void
}

/** Starts the benchmark's application on Redis. */
export function startApp(kind: Kind, redisUrl: string, env: Record<string, string> = {}): Promise<BenchApp> {
  return launch(new URL('./app.ts', import.meta.url), kind, { REDIS_URL: redisUrl, ...env })
}

/** Starts the benchmark's application on PostgreSQL or SQLite. */
export function startDatabaseApp(
  kind: 'plain' | 'protected' | 'directory' | 'audit',
  env: Record<string, string>,
): Promise<BenchApp> {
  return launch(new URL('./database-app.ts', import.meta.url), kind, env)
}

async function launch({ pathname }: URL, kind: Kind, env: Record<string, string>): Promise<BenchApp> {
  const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', pathname, kind], {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  running.add(child)
  if (!child.stdout) throw new Error('The application has no output.')
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    kind,
    port: Number(line.toString().trim()),
    async ask(what) {
      const answer = once(child, 'message')
      child.send(what)
      return (await answer)[0] as number
    },
    stop() {
      child.kill('SIGKILL')
      running.delete(child)
    },
  }
}

/** Starts the example application, as `npm start` does, and returns its URL. */
export async function startExample(env: Record<string, string>): Promise<string> {
  const tsconfig = new URL('../examples/express-app/tsconfig.json', import.meta.url).pathname
  const server = new URL('../examples/express-app/server.ts', import.meta.url).pathname
  const own = { TSX_TSCONFIG_PATH: tsconfig, NODE_ENV: 'production', PORT: '0', SESSION_SECRET: 'bench' }
  const child = spawn(process.execPath, ['--import', 'tsx', server], {
    env: { ...process.env, ...own, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
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

/** Forwards connections to a port and delays each response, as a network would. Returns its own port. */
export async function delayProxy(target: number, delayMs: number): Promise<number> {
  const server = createServer((inbound) => {
    const outbound = connect(target, '127.0.0.1')
    inbound.on('data', (data) => outbound.write(data))
    outbound.on('data', (data) => setTimeout(() => inbound.write(data), delayMs))
    for (const socket of [inbound, outbound]) socket.setNoDelay().on('error', () => {})
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
