import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A private Redis server of a test. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  readonly process: ChildProcess
  /** Ends it like a power cut. */
  kill(): Promise<void>
  /** Starts it again on the same port and files, after a kill. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts a private server on a free port of 127.0.0.1 and waits until it answers. */
export async function startRedis(
  extra: readonly string[] = ['--save', '', '--appendonly', 'no'],
): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-redis-'))
  const port = await freePort()
  const launch = async () => {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...extra]
    const child = spawn('redis-server', args, { stdio: 'ignore' })
    const failed = once(child, 'error').then(([error]) => {
      throw new Error(`redis-server could not be started: ${String(error)}. Run: node scripts/setup.mjs`)
    })
    await Promise.race([answers(port), failed])
    return child
  }
  let child = await launch()
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill(signal)
    await gone
  }
  const leaveNothing = () => child.kill('SIGKILL')
  process.once('exit', leaveNothing)
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get process() {
      return child
    },
    kill: () => end('SIGKILL'),
    restart: async () => {
      child = await launch()
    },
    async stop() {
      await end('SIGKILL')
      process.off('exit', leaveNothing)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Finds a port nobody listens on, below 50000 so that a cluster bus port (port + 10000) exists too. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(20_000 + Math.floor(Math.random() * 25_000), '127.0.0.1')
    const outcome = await Promise.race([
      once(server, 'listening').then(() => true),
      once(server, 'error').then(() => false),
    ])
    if (!outcome) continue
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

async function answers(port: number): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    if (await ping(port)) return
    await sleep(20)
  }
  throw new Error('redis-server did not answer PING within 5 s')
}

function ping(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString().startsWith('+PONG'))
    })
    socket.once('error', () => resolve(false))
  })
}
