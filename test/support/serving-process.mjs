// One process of an application, as the package is built: it signs users in, and reads their sessions behind the guard,
// over and over, as requests do.
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'
import { answerCalls, setup } from './answer-calls.mjs'

const { url, tracking, latePort } = setup
const LOOPS = 4
const ENOUGH = 3

const client = createClient({ url, username: 'serving', password: 'serving' })
client.on('error', () => {})
await client.connect()
if (latePort !== undefined) readElsewhere()
const sessionStore = new RedisStore({ client })
const store = redisStore({ client, ...(tracking === undefined ? {} : { tracking }) })
const seen = { confirmed: 0 }
countConfirmations(store.watch)
// Without it, a session would end where the registry that its pair names is lost.
const sessionUser = ({ user }) => user
const limiter = sessmgr({ store, sessionStore, sessionUser, settings: { maximum: 1000 } })

const app = express()
app.use(
  session({
    store: sessionStore,
    secret: 'test',
    resave: false,
    saveUninitialized: false,
    cookie: { maxAge: 3_600_000 },
  }),
)
app.use(limiter)
app.post('/login/:user', async (request, response) => {
  await limiter.login(request, { id: request.params.user })
  request.session.user = request.params.user
  response.json(request.sessionID)
})
const server = app.listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const origin = `http://127.0.0.1:${server.address().port}`

/** Knows the loops of each session, by its id. */
const reading = new Map()

const answers = {
  login: async ({ user }) => {
    const answer = await fetch(`${origin}/login/${user}`, { method: 'POST' }).catch(() => undefined)
    return answer?.ok ? answer.json() : undefined
  },
  whyNot: () => store.watch.whyNot(sessionStore),
  /** Begins to read a session, and answers when it was live some times on end. */
  follow: ({ sessionId }) =>
    new Promise((resolve) => {
      const loops = { reads: [], warm: 0, left: Number.POSITIVE_INFINITY, resolve, done: [] }
      reading.set(sessionId, loops)
      for (let index = 0; index < LOOPS; index++) loops.done.push(readOn(sessionId, loops))
    }),
  /** Reads a session some times more, and answers what was seen of it. */
  finish: async ({ sessionId }) => {
    const loops = reading.get(sessionId)
    loops.left = LOOPS * ENOUGH
    await Promise.all(loops.done)
    reading.delete(sessionId)
    return { reads: loops.reads, confirmed: seen.confirmed }
  },
}

async function readOn(sessionId, loops) {
  while (loops.left-- > 0) {
    const begun = now()
    const outcome = await read(sessionId)
    loops.reads.push([begun, now(), outcome])
    if (outcome === 'live' && ++loops.warm === LOOPS * ENOUGH) loops.resolve(true)
    if (outcome === 'over' && loops.warm < LOOPS * ENOUGH) {
      // Lost before it was followed.
      loops.left = 0
      loops.resolve(false)
    }
    if (loops.reads.length > 400) loops.reads.splice(0, 200)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function read(sessionId) {
  return new Promise((resolve) => {
    sessionStore.get(sessionId, (error, data) => resolve(error ? 'error' : data ? 'live' : 'over'))
  })
}

/** The same clock in all processes of a machine. */
function now() {
  return Number(process.hrtime.bigint())
}

await answerCalls(answers)

/** Counts the requests that asked for nothing but their session. */
function countConfirmations(watch) {
  const { reading: view, isLive } = watch
  watch.isLive = (known, begun) => {
    const isKnown = latePort === undefined ? isLive.call(watch, known, begun) : (known.knowledge?.until ?? 0) > 0
    if (isKnown) seen.confirmed++
    return isKnown
  }
  if (latePort !== undefined) watch.reading = (given) => view.call(watch, given) && Object.create(given)
}

/** Has sessions read over another connection than the one on which changes are told, which are told late. */
function readElsewhere() {
  const { duplicate } = Object.getPrototypeOf(client)
  client.duplicate = ({ socket, ...options }) =>
    duplicate.call(client, { ...options, url: undefined, socket: { ...socket, port: latePort } })
}
