import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasEnded } from './kill-process.ts'

/** A private Redis server of a test. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  readonly process: ChildProcess
  /** Ends it like a power cut. */
  kill(): Promise<void>
  /** Starts it again with the same port and files, after a kill. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts a private server on a free port of 127.0.0.1 and waits until it responds. */
export async function startRedis(
  extra: readonly string[] = ['--save', '', '--appendonly', 'no'],
  program?: string,
): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-redis-'))
  return startServer(directory, ['--bind', '127.0.0.1', '--dir', directory, ...extra], program)
}

/** Starts a private sentinel and waits until it responds. The configuration is given without address and folder. */
export async function startSentinel(configuration: readonly string[]): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-redis-'))
  // A sentinel writes what it learns to its configuration file.
  const file = join(directory, 'sentinel.conf')
  writeFileSync(file, ['bind 127.0.0.1', `dir ${directory}`, ...configuration, ''].join('\n'))
  return startServer(directory, [file, '--sentinel'])
}

async function startServer(
  directory: string,
  given: readonly string[],
  program = 'redis-server',
): Promise<RedisServer> {
  let port = 0
  let child: ChildProcess
  const launch = async () => {
    child = spawn(program, [...given, '--port', String(port)], { stdio: 'ignore' })
    await untilUp(child, port)
  }
  for (let tries = 1; ; tries++) {
    port = await freePort()
    try {
      await launch()
      break
    } catch (error) {
      // Another process may have taken the port in the meantime.
      if (tries === 3) throw error
    }
  }
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded(child)) return
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
    restart: launch,
    async stop() {
      await end('SIGKILL')
      process.off('exit', leaveNothing)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Finds a free port, below those that systems use for outgoing connections. */
async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(16_000 + Math.floor(Math.random() * 16_000), '127.0.0.1')
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('listening', () => resolve(true)).once('error', () => resolve(false))
    })
    if (!isFree) continue
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

async function untilUp(child: ChildProcess, port: number): Promise<void> {
  let problem: string | undefined
  child.once('error', (error) => {
    problem = `could not be started: ${error.message}. Run: node scripts/setup.mjs --servers`
  })
  child.once('exit', (code) => {
    problem ??= `ended with code ${code}`
  })
  for (let tries = 0; tries < 3000; tries++) {
    if (await ping(port)) return
    if (problem !== undefined) throw new Error(`redis-server ${problem}`)
    await sleep(20)
  }
  throw new Error('redis-server did not answer PING within 60 s')
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
