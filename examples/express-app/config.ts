import { randomBytes } from 'node:crypto'
import type { SessmgrOptions } from 'sessmgr'
import { jsonLinesSink } from 'sessmgr/audit'

/** Configuration from environment variables. */
export interface Config {
  port: number
  site: { url: string; title: string }
  redisUrl: string | undefined
  databaseFile: string | undefined
  workers: number
  sessionSecret: string
  settings: SessmgrOptions['settings']
  directory: boolean
  audit: SessmgrOptions['audit']
  scryptCost: number
  seedUsers: number
  seedSessions: number
  hooksLog: string | undefined
  appPassword: string | undefined
  addonKeys: string | undefined
  printsLicense: boolean
}

/** Reads the environment variables once, when the application starts. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  if (!env.SESSION_SECRET) {
    console.warn('SESSION_SECRET is not set: using a random one, so every restart signs everyone out.')
  }
  const port = integer(env, 'PORT') ?? 3000
  const maximum = integer(env, 'SESSMGR_MAXIMUM')
  return {
    port,
    site: { url: `http://127.0.0.1:${port}`, title: 'The example blog' },
    redisUrl: env.REDIS_URL || undefined,
    databaseFile: env.SESSMGR_DB || undefined,
    workers: workersOf(env),
    sessionSecret: env.SESSION_SECRET || randomBytes(32).toString('hex'),
    settings: {
      ...(maximum !== undefined && { maximum }),
      logic: env.SESSMGR_LOGIC || undefined,
      idle_release: integer(env, 'SESSMGR_IDLE_RELEASE'),
    },
    directory: integer(env, 'SESSMGR_DIRECTORY') !== 0,
    audit: env.SESSMGR_AUDIT ? { sink: jsonLinesSink(env.SESSMGR_AUDIT) } : undefined,
    scryptCost: integer(env, 'SCRYPT_COST') ?? 16_384,
    seedUsers: integer(env, 'SEED_USERS') ?? 0,
    seedSessions: integer(env, 'SEED_SESSIONS') ?? 0,
    hooksLog: env.TEST_HOOKS_LOG,
    appPassword: env.SEED_APP_PASSWORD || undefined,
    addonKeys: env.ADDON_ROLE_LIMITS || undefined,
    printsLicense: integer(env, 'ADDON_LICENSE') === 1,
  }
}

function workersOf(env: NodeJS.ProcessEnv): number {
  const workers = Math.max(1, integer(env, 'WEB_CONCURRENCY') ?? 1)
  if (workers > 1 && !env.REDIS_URL && !env.SESSMGR_DB)
    throw new Error('WEB_CONCURRENCY above 1 needs REDIS_URL or SESSMGR_DB, because processes share no memory.')
  return workers
}

function integer(env: NodeJS.ProcessEnv, name: string): number | undefined {
  const value = env[name]
  if (value === undefined || value === '') return undefined
  if (!/^\d+$/.test(value)) throw new Error(`${name} must be a whole number; it is "${value}".`)
  return Number(value)
}
