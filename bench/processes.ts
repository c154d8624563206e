import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The Node programs to compare. The first one runs what needs no application. */
export const NODES = (process.env.BENCH_NODES ?? process.execPath).split(',').map((program) => {
  const version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1)
  return { program, version, name: `Node ${version.split('.')[0]}` }
})
export type BenchNode = (typeof NODES)[number]

const running = new Set<ChildProcess>()

/** Starts a private Redis server on a free port. */
export async function startRedis(): Promise<{ url: string; port: number; stop(): void }> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', args, { stdio: 'ignore' })
  running.add(child)
  for (let tries = 0; !(await isOpen(port)); tries++) {
    if (tries > 250) throw new Error('redis-server did not start within 5 s')
    await sleep(20)
  }
  return { url: `redis://127.0.0.1:${port}`, port, stop: () => end(child) }
}

/** Returns the version of the Redis server on this machine. */
export function redisVersion(): string {
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return /v=(\S+)/.exec(stdout)?.[1] ?? 'unknown'
}

/** What the benchmark's application checks. */
export type Kind = 'plain' | 'twin' | 'limit' | 'byHand' | 'protected' | 'fallback' | 'directory' | 'audit'

/** Which application runs, on what, and with which variables of the environment. */
export interface Launch {
  readonly kind: Kind
  readonly node?: BenchNode | undefined
  readonly env: Readonly<Record<string, string>>
}

/** A running application of the benchmark. */
export interface BenchApp {
  readonly port: number
  /** Ports of all its processes. */
  readonly ports: readonly number[]
  /**
   * Returns the CPU time of the process in microseconds, its heap in bytes after garbage collection, or the number of
   * statements it has sent to its database.
   */
  ask(what: 'cpu' | 'heap' | 'statements'): Promise<number>
  stop(): void
}

/** Starts one of the benchmark's applications, which prints its port. */
export async function startApp(
  file: 'app.ts' | 'database-app.ts' | 'framework-app.ts',
  { kind, node = NODES[0], env }: Launch,
): Promise<BenchApp> {
  const { pathname } = new URL(file, import.meta.url)
  const child = spawn(node?.program ?? process.execPath, ['--expose-gc', '--import', 'tsx', pathname, kind], {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  running.add(child)
  if (!child.stdout) throw new Error('The application has no output.')
  const exit = once(child, 'exit').then(() => Promise.reject(new Error(`${file} has exited.`)))
  const [line] = await Promise.race([once(child.stdout, 'data') as Promise<[Buffer]>, exit])
  exit.catch(() => {})
  const port = Number(line.toString().trim())
  return {
    port,
    ports: [port],
    async ask(what) {
      const answer = once(child, 'message')
      child.send(what)
      return (await answer)[0] as number
    },
    stop: () => end(child),
  }
}

/** Starts several processes of an application, as behind a load balancer. */
export async function startApps(count: number, start: () => Promise<BenchApp>): Promise<BenchApp> {
  const apps = await Promise.all(Array.from({ length: count }, start))
  return {
    port: apps[0]?.port ?? 0,
    ports: apps.flatMap(({ ports }) => ports),
    async ask(what) {
      const numbers = await Promise.all(apps.map((app) => app.ask(what)))
      return numbers.reduce((all, number) => all + number, 0)
    },
    stop: () => apps.forEach((app) => void app.stop()),
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
  // The example says more later, so its output must stay open.
  const url = await new Promise<string | undefined>((resolve) => {
    child.stdout.on('data', (chunk) => {
      const [, found] = /listening on (http:\S+)/.exec(String(chunk)) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => resolve(undefined))
  })
  if (url === undefined) throw new Error('The example did not start.')
  return url
}

/** Ends every process that was started here. */
export function stopAll(): void {
  for (const child of running) end(child)
}

function end(child: ChildProcess): void {
  child.kill('SIGKILL')
  running.delete(child)
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
