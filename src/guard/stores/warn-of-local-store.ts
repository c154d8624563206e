import type { Cluster } from 'node:cluster'
import { type Logger, warnOnce } from '../../ground/logger.ts'
import type { SessmgrStore } from '../../stores/store.ts'

const STORES =
  'sqliteStore() from sessmgr/sqlite for one machine, postgresStore() from sessmgr/postgres, or redisStore() from ' +
  'sessmgr/redis.'

/** Warns once at startup if several processes serve the application and each has its own store in memory. */
export function warnOfSeveralProcesses(store: SessmgrStore, logger: Logger, env = process.env): void {
  const sign = store.local ? signOfSeveral(env) : undefined
  if (sign === undefined) return
  const message = `Several processes seem to serve this application (${sign}), but each counts logins on its own: limits and logouts do not apply across processes.`
  warnOnce(logger, 'several-processes', `${message} Use a shared store: ${STORES}`)
}

function signOfSeveral(env: NodeJS.ProcessEnv): string | undefined {
  if (Number(env.WEB_CONCURRENCY) > 1) return 'WEB_CONCURRENCY is above 1'
  // Importing node:cluster would delay every start.
  const isWorker = (process.getBuiltinModule('node:cluster') as unknown as Cluster).isWorker
  if (env.pm_id === undefined) return isWorker ? 'this is a worker of node:cluster' : undefined
  // PM2 runs even a single process as a worker.
  const isOneOfMany = Number(env.instances) > 1 || Number(env.NODE_APP_INSTANCE) > 0
  return isOneOfMany ? 'PM2 runs several instances' : undefined
}

/** Warns once if the session store survives a restart but sessmgr's store does not. */
export function warnOfLastingSessions(sessionStore: object, store: SessmgrStore, logger: Logger): void {
  if (!store.local || isInMemory(sessionStore)) return
  const inProduction = process.env.NODE_ENV === 'production'
  const advice = inProduction ? 'Do not run this in production, where every deployment is a restart. ' : ''
  warnOnce(
    logger,
    'sessions-outlive-the-store',
    'The session store seems to survive a restart, but the sessmgr store is in memory. After a restart, accounts ' +
      'may exceed their limit, and sessions ended by a site-wide logout become valid again. ' +
      `${advice}Use a store that also survives: ${STORES} If your session store is in memory as well, set memory: true ` +
      'on the store object.',
  )
}

/**
 * Checks whether a session store ends with its process. Recognizes memory stores: those of express-session and
 * memorystore by class name, that of @fastify/session by its Map, and any other by the property `memory`.
 */
export function isInMemory(sessionStore: { readonly memory?: unknown }): boolean {
  if (sessionStore.memory === true) return true
  for (let it = sessionStore; it; it = Object.getPrototypeOf(it)) {
    if (/memory/i.test(String(it.constructor?.name))) return true
  }
  return sessionStore instanceof Map || (sessionStore as { store?: unknown }).store instanceof Map
}
