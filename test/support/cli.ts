import { spawn } from 'node:child_process'
import { Console } from 'node:console'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { runCli as runCommand } from '../../src/cli/run-cli.ts'
import { actionsIn, type LoggedAction } from './example-app.ts'
import { connectRedis, type NodeRedis } from './redis-client.ts'
import { type RedisHost, startRedisHost } from './redis-host.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The program that npm puts on the path. */
export const CLI = join(ROOT, 'dist/cli.js')
export const EXAMPLE = join(ROOT, 'examples/express-app')
/** Events that a command listens to until its process ends. */
const EVENTS = ['uncaughtException', 'warning'] as const

/** What a command did. */
export interface CliResult {
  /** Exit code. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Where a command runs. */
interface Place {
  readonly cwd?: string
  readonly env?: Record<string, string>
}

/** Runs the program as a separate process, without a terminal. */
export async function runProgram(args: readonly string[], { cwd = EXAMPLE, env = {} }: Place = {}): Promise<CliResult> {
  if (!existsSync(CLI)) throw new Error('The command line runs from dist/, which is missing: run `npm run build`.')
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

let last: Promise<unknown> = Promise.resolve()

/** Runs a command in this process, which takes a tenth of the time. Commands run one after another. */
export function runCli(args: readonly string[], place: Place = {}): Promise<CliResult> {
  const result = last.then(() => runHere(args, place))
  last = result.catch(() => {})
  return result
}

async function runHere(args: readonly string[], { cwd = EXAMPLE, env = {} }: Place): Promise<CliResult> {
  const said = { out: '', err: '' }
  const hear = (stream: 'out' | 'err') => (text: string | Uint8Array) => {
    said[stream] += text
    return true
  }
  const restored = [process.env, process.cwd(), globalThis.console, process.stdin.isTTY] as const
  const listeners = EVENTS.map((event) => process.rawListeners(event))
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(hear('out')),
    vi.spyOn(process.stderr, 'write').mockImplementation(hear('err')),
  ]
  // The console of vitest writes elsewhere.
  globalThis.console = new Console(process.stdout, process.stderr)
  process.stdin.isTTY = false
  process.env = { ...process.env, ...env }
  process.chdir(cwd)
  try {
    const code = await runCommand(args)
    return { code, ...said }
  } finally {
    for (const spy of spies) spy.mockRestore()
    process.chdir(restored[1])
    ;[process.env, , globalThis.console, process.stdin.isTTY] = restored
    for (const [index, event] of EVENTS.entries()) {
      process.removeAllListeners(event)
      for (const listener of listeners[index] ?? []) process.on(event, listener as () => void)
    }
  }
}

/** A private Redis, an application that uses it, and the command line of the example application. */
export interface CliWorld {
  readonly redis: RedisServer
  readonly client: NodeRedis
  readonly host: RedisHost
  readonly env: Record<string, string>
  run(...args: string[]): Promise<CliResult>
  /** Returns the actions that commands have fired since the last call, except those at startup. */
  actions(): readonly LoggedAction[]
  /** Returns every key in Redis that a command could have changed, with its value. */
  everything(): Promise<Record<string, unknown>>
  close(): Promise<void>
}

/** Starts the server and the application. */
export async function startCliWorld(): Promise<CliWorld> {
  const redis = await startRedis()
  const client = await connectRedis(redis.url)
  const host = await startRedisHost({ client, settings: { maximum: 5 } })
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-cli-'))
  const log = join(folder, 'hooks.jsonl')
  const env = { REDIS_URL: redis.url, TEST_HOOKS_LOG: log, ADDON_ROLE_LIMITS: 'none' }
  return {
    redis,
    client,
    host,
    env,
    run: (...args) => runCli(args, { env }),
    actions() {
      const actions = actionsIn(log)
      rmSync(log, { force: true })
      return actions.filter(({ hook }) => !hook.endsWith('_init'))
    },
    async everything() {
      const keys = (await client.keys('*')).sort()
      return Object.fromEntries(await Promise.all(keys.map(async (key) => [key, await client.dump(key)])))
    },
    async close() {
      await host.close()
      client.destroy()
      await redis.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
