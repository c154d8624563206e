import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool, type PoolConfig } from 'pg'
import { postgresFolders } from '../../scripts/postgres-folders.mjs'
import { hasEnded } from './kill-process.ts'

/** A private PostgreSQL server with a socket in its own folder. */
export interface PostgresServer {
  /** Folder of the socket, for the option `host` of a pool. */
  readonly host: string
  /** Creates a pool, which ends with the server. Its connections may be lost at any time. */
  pool(config?: PoolConfig): Pool
  /** Ends it like a crash. */
  kill(): Promise<void>
  /** Pauses all its processes. */
  freeze(): void
  thaw(): void
  /** Starts it again with the same files, after a kill. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Starts a private server in its own folder and waits until it responds. */
export async function startPostgres(): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-pg-'))
  const user = identity('postgres')
  if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid)
  const data = join(directory, 'data')
  const options = [
    '--pgdata',
    data,
    '--username',
    'test',
    '--auth',
    'trust',
    '--no-sync',
    '--encoding',
    'UTF8',
    '--locale',
    'C',
  ]
  const made = spawnSync(binary('initdb'), options, { ...user, cwd: directory, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}${made.error ?? ''}`)

  let child: ChildProcess
  const pools: Pool[] = []
  const pool = (config: PoolConfig = {}) => {
    const made = new Pool({ host: directory, user: 'test', database: 'postgres', ...config })
    // Emitted if an unused connection is lost.
    made.on('error', () => {})
    pools.push(made)
    return made
  }
  const start = async () => {
    const settings = ['listen_addresses=', `unix_socket_directories=${directory}`, 'max_connections=60', 'fsync=off']
    child = spawn(binary('postgres'), ['-D', data, ...settings.flatMap((it) => ['-c', it])], {
      ...user,
      cwd: directory,
      stdio: 'ignore',
    })
    await untilUp(child, pool({ max: 1 }))
  }
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded(child)) return
    const gone = once(child, 'exit')
    signalAll(child, 'SIGCONT')
    child.kill(signal)
    await gone
  }
  // SIGQUIT shuts it down immediately. After SIGKILL, its children would run on for a while.
  const leaveNothing = () => child.kill('SIGQUIT')
  process.once('exit', leaveNothing)
  await start()
  return {
    host: directory,
    pool,
    kill: () => end('SIGQUIT'),
    freeze: () => signalAll(child, 'SIGSTOP'),
    thaw: () => signalAll(child, 'SIGCONT'),
    start,
    async stop() {
      process.off('exit', leaveNothing)
      await Promise.all(pools.filter((it) => !it.ended).map((it) => it.end()))
      await end('SIGQUIT')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Each connection has its own server process. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  const pid = String(child.pid)
  const listed = spawnSync('ps', ['-o', 'pid=', '--ppid', pid], { encoding: 'utf8' }).stdout
  for (const each of [pid, ...listed.split('\n').map((it) => it.trim())]) {
    try {
      if (each !== '') process.kill(Number(each), signal)
    } catch {
      // It has ended in the meantime.
    }
  }
}

async function untilUp(child: ChildProcess, pool: Pool): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}`)
    try {
      await pool.query('SELECT 1')
      return
    } catch {
      await sleep(20)
    }
  }
}

/** Servers of databases refuse to run as root, so Debian's packages create users. */
export function identity(name: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout)
  return { uid: id('-u'), gid: id('-g') }
}

function binary(name: string): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...postgresFolders()]
  const found = folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
  if (found === undefined) throw new Error(`${name} is missing. Run: node scripts/setup.mjs --servers`)
  return found
}
