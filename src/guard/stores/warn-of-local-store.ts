import type { Cluster } from 'node:cluster'
import { type Logger, warnOnce } from '../../ground/logger.ts'
import type { SessmgrStore } from '../../stores/store.ts'

const CURE = 'Give it a store that they share: sessmgr({ store: redisStore({ client }) }) with sessmgr/redis.'

/** Warns once, at the start, when several processes serve the application and each remembers logins for itself. */
export function warnOfSeveralProcesses(store: SessmgrStore, logger: Logger, env = process.env): void {
  const sign = store.local ? signOfSeveral(env) : undefined
  if (sign === undefined) return
  const message = `Several processes seem to serve this application (${sign}), and each keeps its own count of logins: the limit and logouts do not reach across them.`
  warnOnce(logger, `${message} ${CURE}`)
}

function signOfSeveral(env: NodeJS.ProcessEnv): string | undefined {
  if (Number(env.WEB_CONCURRENCY) > 1) return 'WEB_CONCURRENCY is above 1'
  // An import would take its time at every start.
  const isWorker = (process.getBuiltinModule('node:cluster') as unknown as Cluster).isWorker
  if (env.pm_id === undefined) return isWorker ? 'this is a worker of node:cluster' : undefined
  // PM2 runs a single process, too, as a worker.
  const isOneOfMany = Number(env.instances) > 1 || Number(env.NODE_APP_INSTANCE) > 0
  return isOneOfMany ? 'PM2 runs several instances' : undefined
}

/** Warns once, when a session store becomes known, that sessions outlive what the limit knows of them. */
export function warnOfLastingSessions(sessionStore: object, store: SessmgrStore, logger: Logger): void {
  if (!store.local || isInMemory(sessionStore)) return
  const inProduction = process.env.NODE_ENV === 'production'
  const advice = inProduction ? 'Do not run this in production: every deployment does it. ' : ''
  warnOnce(
    logger,
    'The session store seems to outlive this process, and what sessmgr remembers does not: after a restart, accounts may ' +
      'exceed their limit, and sessions that a site-wide logout has ended are valid again. ' +
      `${advice}Give sessmgr a store that lasts as well: sessmgr({ store: redisStore({ client }) }) with sessmgr/redis.`,
  )
}

/** Recognizes the memory stores of express-session and memorystore by their name, and that of @fastify/session by its map. */
function isInMemory(sessionStore: object): boolean {
  for (let it = sessionStore; it; it = Object.getPrototypeOf(it)) {
    if (/memory/i.test(String(it.constructor?.name))) return true
  }
  return sessionStore instanceof Map || (sessionStore as { store?: unknown }).store instanceof Map
}
