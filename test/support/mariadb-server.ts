import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mysql from 'mysql2/promise'

/** A private MariaDB server with a socket in its own folder. */
export interface MariadbServer {
  /** The socket and the user for connections. */
  readonly connection: { readonly socketPath: string; readonly user: string; readonly database: string }
  stop(): Promise<void>
}

/** Path of the server from the system's package, which is not on the PATH of most users. */
const PROGRAM = '/usr/sbin/mariadbd'

/** Returns whether MariaDB is installed. Only the campaign uses it. */
export const hasMariadb = () => existsSync(PROGRAM)

/** Starts a private server in its own folder and waits until it responds. */
export async function startMariadb(): Promise<MariadbServer> {
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-mariadb-'))
  const user = identity()
  if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid)
  const data = `--datadir=${join(directory, 'data')}`
  const socketPath = join(directory, 'socket')
  const made = spawnSync('mariadb-install-db', ['--no-defaults', data, '--auth-root-authentication-method=normal'], {
    ...user,
    cwd: directory,
    encoding: 'utf8',
  })
  if (made.status !== 0) throw new Error(`mariadb-install-db failed: ${made.stderr}`)
  const settings = [
    '--no-defaults',
    data,
    `--socket=${socketPath}`,
    '--skip-networking',
    '--innodb-buffer-pool-size=32M',
  ]
  const child = spawn(PROGRAM, settings, { ...user, cwd: directory, stdio: 'ignore' })
  const leaveNothing = () => child.kill('SIGKILL')
  process.once('exit', leaveNothing)
  const connection = { socketPath, user: 'root', database: 'test' }
  for (;;) {
    if (child.exitCode !== null) throw new Error(`mariadbd ended with ${child.exitCode}`)
    try {
      const first = await mysql.createConnection({ ...connection, database: 'mysql' })
      await first.query('CREATE DATABASE IF NOT EXISTS test')
      await first.end()
      break
    } catch {
      await sleep(50)
    }
  }
  return {
    connection,
    async stop() {
      process.off('exit', leaveNothing)
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** MariaDB refuses to run as root, so its package creates a user. */
function identity(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(spawnSync('id', [flag, 'mysql'], { encoding: 'utf8' }).stdout)
  return { uid: id('-u'), gid: id('-g') }
}
