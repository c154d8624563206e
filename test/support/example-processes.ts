import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasEnded } from './has-ended.ts'
import { killProcess } from './kill-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const START_TIMEOUT_MS = 60_000

/** How the processes are started. */
export interface ExampleOptions {
  readonly redisUrl: string
  readonly count: number
  /** How far the clock of each process is ahead, in milliseconds. */
  readonly clockSkewMs?: readonly number[]
  readonly env?: Record<string, string>
}

/** An action that fired in one of the processes. */
export interface LoggedHook {
  readonly hook: string
  readonly args: readonly unknown[]
}

/** The example application in several processes on one Redis, each on its own port, with the package as it is built. */
export interface ExampleProcesses {
  readonly origins: readonly string[]
  /** Returns how many have ended since they were started, for example by a crash. */
  ended(): number
  /** Returns every action that has fired in any of them. */
  hooks(): readonly LoggedHook[]
  stop(): Promise<void>
}

/** Starts the example application and waits until every process listens. */
export async function startExamples({
  redisUrl,
  count,
  clockSkewMs = [],
  env,
}: ExampleOptions): Promise<ExampleProcesses> {
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-example-'))
  const logs = Array.from({ length: count }, (_, index) => join(directory, `hooks-${index}.log`))
  const children = logs.map((log, index) =>
    launch({
      ...process.env,
      TSX_TSCONFIG_PATH: join(ROOT, 'examples/express-app/tsconfig.json'),
      PORT: '0',
      REDIS_URL: redisUrl,
      SESSION_SECRET: 'one for all processes',
      SCRYPT_COST: '16',
      TEST_HOOKS_LOG: log,
      CLOCK_SKEW_MS: String(clockSkewMs[index] ?? 0),
      ...env,
    }),
  )
  async function stop(): Promise<void> {
    await Promise.all(children.map(killProcess))
    rmSync(directory, { recursive: true, force: true })
  }
  const origins = await Promise.all(children.map(listening)).catch(async (error) => {
    await stop()
    throw error
  })
  return {
    origins,
    ended: () => children.filter(hasEnded).length,
    hooks: () => logs.flatMap(readHooks),
    stop,
  }
}

function launch(env: NodeJS.ProcessEnv): ChildProcess {
  const imports = ['tsx', './test/support/skewed-clock.ts'].flatMap((name) => ['--import', name])
  const child = spawn(process.execPath, [...imports, 'examples/express-app/server.ts'], { cwd: ROOT, env })
  const leaveNothing = () => child.kill('SIGKILL')
  process.once('exit', leaveNothing)
  child.once('exit', () => process.off('exit', leaveNothing))
  return child
}

/** Resolves with the origin at which a process listens. */
function listening(child: ChildProcess): Promise<string> {
  let output = ''
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`The example application ${why}:\n${output}`))
    const timer = setTimeout(() => fail('did not listen in time'), START_TIMEOUT_MS)
    const read = (chunk: Buffer) => {
      // The output is needed only until the process listens.
      if (output.length < 10_000) output += chunk
      const found = /listening on (http:\S+)/.exec(output)?.[1]
      if (found === undefined) return
      clearTimeout(timer)
      resolve(found)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('exit', (code) => fail(`ended with code ${code}`))
  })
}

function readHooks(file: string): LoggedHook[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LoggedHook)
  } catch {
    // No action has fired in this process.
    return []
  }
}
