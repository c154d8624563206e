// One process of an application that signs tokens, as the package is built.
import { pbkdf2Sync } from 'node:crypto'
import { sessmgr, tokenOf } from 'sessmgr'
import { tokenSessions } from 'sessmgr/jwt'
import { liveConnections } from 'sessmgr/live'
import { answerCalls, setup } from './answer-calls.mjs'

const { path, host, url, settings, loadMs = 0, isLive = false } = setup

async function openStore() {
  if (path) return (await import('sessmgr/sqlite')).sqliteStore({ path })
  if (host) {
    const pool = new (await import('pg')).default.Pool({ host, user: 'test', database: 'postgres', max: 5 })
    pool.on('error', () => {})
    return (await import('sessmgr/postgres')).postgresStore({ pool, createTable: true })
  }
  const client = (await import('redis')).createClient({ url })
  await client.connect()
  return (await import('sessmgr/redis')).redisStore({ client })
}

const limiter = sessmgr({ store: await openStore(), settings, logger: { warn() {}, error() {} } })
const tokens = tokenSessions(limiter, isLive ? { live: liveConnections(limiter) } : {})
const sign = (claims) => claims

/** Keeps the processor busy most of the time. */
function load() {
  const until = performance.now() + loadMs
  while (performance.now() < until) pbkdf2Sync('a', 'b', 1000, 32, 'sha256')
  setTimeout(load, 5)
}
if (loadMs > 0) load()

await answerCalls({
  async login({ userId, times, inFlight = 20 }) {
    const outcomes = { claims: [], refused: 0, failed: [] }
    let left = times
    const work = async () => {
      while (left-- > 0) {
        const admission = await tokens.login({ userId }, sign).catch((error) => error)
        if (admission.admitted) outcomes.claims.push(admission.tokens)
        else if (admission instanceof Error) outcomes.failed.push(admission.code ?? admission.message)
        else outcomes.refused += 1
      }
    }
    await Promise.all(Array.from({ length: inFlight }, work))
    return outcomes
  },
  refresh: ({ claims, times }) => Promise.all(Array.from({ length: times }, () => tokens.refresh(claims, sign))),
  /** Refreshes, and stays between the rotation and the signature. */
  hang: ({ claims }) =>
    new Promise((resolve) => {
      void tokens.refresh(claims, () => new Promise(() => resolve('rotated')))
    }),
  end: async ({ userId, sid }) => {
    await limiter.sessions.end(userId, tokenOf(sid))
    return Date.now()
  },
})
