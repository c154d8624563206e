// One process of an application, as the package is built: it signs users in over and over, on a store in a database, and
// may end or use sessions in between. It tells when a third of the logins is done.
import { sessmgr } from 'sessmgr'
import { explicitCalls } from 'sessmgr/explicit'
import { postgresStore } from 'sessmgr/postgres'
import { fromIoredis, redisStore } from 'sessmgr/redis'
import { sqliteStore } from 'sessmgr/sqlite'
import { answerCalls, setup, tell } from './answer-calls.mjs'

const {
  path,
  host,
  url,
  client: kind,
  settings,
  users,
  logins,
  inFlight,
  skewMs,
  endsToo,
  mixes,
  secrets,
  deadlineMs,
} = setup

const TTL_MS = 3_600_000
/** The last session of each user that this process has created. */
const lastIds = new Map()
/** Sessions that users of this process chose to end. */
const chosen = new Set()

const realNow = Date.now
Date.now = () => realNow() + skewMs

const store =
  path !== undefined ? sqliteStore({ path, deadlineMs }) : url !== undefined ? await redis() : await postgres()
if (mixes) watchCommits(store)
const limiter = sessmgr({ store, settings })
const calls = explicitCalls(limiter, { exists: async () => true, destroy: async () => {} })
const ended = { admitted: 0, refused: 0 }
const announced = { started: [], ended: [] }
const kinds = {}
const commits = []
limiter.hooks.addAction('sessmgr_session_started', 'race', ({ token }) => announced.started.push(token))
limiter.hooks.addAction('sessmgr_session_ended', 'race', ({ token }, { kind }) => {
  announced.ended.push(token)
  count(kinds, kind)
})

async function postgres() {
  const { Pool } = (await import('pg')).default
  const pool = new Pool({ host, user: 'test', database: 'postgres', max: 5 })
  pool.on('error', () => {})
  // About half of the processes, as while the option is rolled out.
  return postgresStore({ pool, createTable: true, prepare: process.pid % 2 === 0 })
}

async function redis() {
  if (kind === 'ioredis')
    return redisStore({ client: fromIoredis(new (await import('ioredis')).Redis(url)), deadlineMs })
  const { createClient, createCluster } = await import('redis')
  const client = kind === 'cluster' ? createCluster({ rootNodes: [{ url }] }) : createClient({ url })
  await client.connect()
  return redisStore({ client, deadlineMs })
}

function count(figures, what) {
  figures[what] = (figures[what] ?? 0) + 1
}

/** Notes every login that is committed, with the sessions on which the decision was based. */
function watchCommits({ sessions, epoch }) {
  const kept = new Map()
  const current = epoch.current.bind(epoch)
  const commit = sessions.commit.bind(sessions)
  const tokensOf = (stored) => stored.map(({ record }) => record.token)
  epoch.current = async () => {
    const found = await current()
    kept.set(found.generation, found.keeps)
    return found
  }
  sessions.commit = async (userId, read, change) => {
    const result = await commit(userId, read, change)
    if (!result.committed) return result
    const { generation } = change.admit
    const isLive = ({ record }) => record.generation >= generation || record.token === kept.get(generation)
    const live = tokensOf(read.sessions.filter(isLive))
    const idle = tokensOf(result.ended.filter((one) => isIdle(one, read.now)))
    commits.push({ base: `${userId} ${read.row.revision}`, live, ended: tokensOf(result.ended), idle })
    return result
  }
}

/** Checks whether a session has been ended because it was unused, not because its user chose it. */
function isIdle({ record: { token, lastSeenAt } }, now) {
  const { logic, idle_release } = settings
  const isReleased = idle_release > 0 && now - lastSeenAt >= idle_release * 1000
  return isReleased && ['block', 'ask'].includes(logic) && !chosen.has(token)
}

/** Ends a session, the others, or all. */
async function endSome(userId) {
  const share = Math.random()
  if (share < 1 / 3) return limiter.sessions.endAll(userId)
  const [first] = await limiter.sessions.list(userId)
  if (first === undefined) return
  // Another process may have ended it in the meantime.
  await (share < 2 / 3
    ? limiter.sessions.endOthers(userId, first.token).catch(() => {})
    : limiter.sessions.end(userId, first.token))
}

/** Ends as many of the offered sessions as needed. Others may do so at the same time, and the user is asked again. */
async function choose(userId, { need, sessions }, create) {
  const ends = sessions.slice(-need).map(({ token }) => token)
  for (const token of ends) chosen.add(token)
  const { admitted } = await calls.login({ userId, ends }, create)
  count(ended, admitted ? 'chosen' : 'again')
}

/** Uses a session that this process has created, ends some, or logs everybody out, except perhaps this user. */
async function mix(userId) {
  const chance = Math.random()
  const sessionId = lastIds.get(userId)
  if (chance < 0.3 && sessionId) {
    if (await calls.touch({ userId, sessionId, ttlMs: TTL_MS })) count(ended, 'used')
  } else if (chance < 0.4) await endSome(userId)
  else if (chance < 0.41) {
    const [first] = await limiter.sessions.list(userId)
    const keep = first && chance < 0.405 ? { userId, token: first.token } : undefined
    // Another process may have ended it in the meantime.
    await limiter.sessions.logoutAllUsers(keep).catch(() => {})
    count(ended, 'siteLogouts')
  }
}

/** Logs a user in. With mixed calls, one of five logins ends a session that the user chose, in whatever mode. */
async function login(n) {
  const userId = users[n % users.length]
  const create = createOf(n)
  const isChoosing = mixes && Math.random() < 0.2
  const ends = isChoosing ? (await limiter.sessions.list(userId)).slice(0, 1).map(({ token }) => token) : []
  for (const token of ends) chosen.add(token)
  const { admitted, choice } = await calls.login({ userId, ends }, create)
  ended[admitted ? 'admitted' : 'refused'] += 1
  if (admitted) lastIds.set(userId, idOf(n))
  if (choice) await choose(userId, choice, create)
  if (endsToo && n % 10 === 0) await endSome(userId)
  if (mixes) await mix(userId)
}

/** Takes a pending login, and logs its user in instead of all their sessions. */
async function finish(n) {
  const taken = await calls.pending.take(secrets[n % secrets.length])
  if (!taken) return count(ended, 'gone')
  const { userId } = taken
  const ends = (await limiter.sessions.list(userId)).map(({ token }) => token)
  const { admitted } = await calls.login({ userId, ends }, createOf(n))
  count(ended, admitted ? 'chosen' : 'again')
}

const idOf = (n) => `${process.pid}-${n}`
const createOf = (n) => async () => ({ sessionId: idOf(n), ttlMs: TTL_MS })

let next = 0
async function loginOn() {
  for (let n = next++; n < logins; n = next++) {
    try {
      await (secrets ? finish(n) : login(n))
    } catch (error) {
      count(ended, error.code ?? String(error))
    }
    if (n === Math.floor(logins / 3)) tell({ isThird: true })
  }
}

// The first call opens the database.
await store.epoch.current()
await answerCalls({
  /** Answers how each login ended, which sessions were announced, and what was committed. */
  async signIn() {
    await Promise.all(Array.from({ length: inFlight }, loginOn))
    return { ended, kinds, announced, commits }
  },
})
