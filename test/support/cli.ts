import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectRedis, type NodeRedis } from './redis-client.ts'
import { type RedisHost, startRedisHost } from './redis-host.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Where the program is that can be traced back to its sources, and tells what it ran, while coverage is measured. */
const traced = process.env.COVERAGE_OF_PROCESSES
const coverage = traced ? { NODE_V8_COVERAGE: join(traced, 'processes') } : {}
/** The program, as npm puts it on the path. */
export const CLI = join(traced ?? ROOT, 'dist/cli.js')
export const EXAMPLE = join(ROOT, 'examples/express-app')

/** What a command did. */
export interface CliResult {
  /** Exit code. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the program as a process of its own, with nobody at the keyboard. */
export async function runCli(
  args: readonly string[],
  { cwd = EXAMPLE, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<CliResult> {
  if (!existsSync(CLI)) throw new Error('The command line runs from dist/, which is missing: run `npm run build`.')
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...coverage, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...said }
}

/** An action in the hooks log. */
export interface LoggedAction {
  readonly hook: string
  readonly args: readonly unknown[]
}

/** A private Redis with an application on it, and the command line of the example application beside it. */
export interface CliWorld {
  readonly redis: RedisServer
  readonly client: NodeRedis
  readonly host: RedisHost
  readonly env: Record<string, string>
  run(...args: string[]): Promise<CliResult>
  /** Actions that commands have fired since this was asked last, but for those of their start. */
  actions(): readonly LoggedAction[]
  /** Every key in Redis with its value, as far as a command could have changed it. */
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
  const env = { REDIS_URL: redis.url, TEST_HOOKS_LOG: log }
  return {
    redis,
    client,
    host,
    env,
    run: (...args) => runCli(args, { env }),
    actions() {
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []
      rmSync(log, { force: true })
      const actions = lines.map((line) => JSON.parse(line) as LoggedAction)
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
