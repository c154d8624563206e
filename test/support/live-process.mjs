// One process of an application with open connections, as the package is built. It tells what it logs.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { explicitCalls } from 'sessmgr/explicit'
import { liveConnections } from 'sessmgr/live'
import { redisStore } from 'sessmgr/redis'
import { WebSocketServer } from 'ws'
import { answerCalls, setup, tell } from './answer-calls.mjs'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

const { url, live: liveOptions, settings, deadlineMs } = setup

const client = createClient({ url })
client.on('error', () => {})
await client.connect()
const limiter = sessmgr({
  store: redisStore({ client, deadlineMs }),
  settings,
  logger: { warn: (text) => tell({ log: text }), error: (text) => tell({ log: text }) },
})
const live = liveConnections(limiter, liveOptions)
const calls = explicitCalls(limiter, { exists: async () => true, destroy: async () => {} })

/** The session of a request is named by its query: this application has no cookies. */
async function sessions(request, _response, next) {
  const { searchParams } = new URL(request.url, 'http://localhost')
  const [userId, sessionId] = [Number(searchParams.get('user')), String(searchParams.get('session'))]
  await calls.check({ userId, sessionId, request })
  next()
}

const server = createServer(async (request, response) => {
  await sessions(request, response, () => {})
  if (!live.stream(request, response)) return
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: hello\n\n')
})
const wss = new WebSocketServer({ noServer: true })
live.upgrade(server, [sessions], wss, { path: '/ws' })
wss.on('connection', (socket) => socket.send('hello'))

const commands = {
  login: ({ userId, sessionId, ends, state }) =>
    calls.login({ userId, ends, state }, async () => ({ sessionId, ttlMs: 3_600_000 })),
  end: ({ userId, token }) => limiter.sessions.end(userId, token),
  endAll: ({ userId }) => limiter.sessions.endAll(userId),
  logoutAll: ({ keep }) => limiter.sessions.logoutAllUsers(keep),
  size: async () => live.size,
  heap: async () => {
    // What is left of a connection is released over several turns of the event loop.
    for (let round = 0; round < 3; round++) {
      await sleep(50)
      collectGarbage()
    }
    return process.memoryUsage().heapUsed / 2 ** 20
  },
  cpu: async () => process.cpuUsage().user + process.cpuUsage().system,
}
server.listen(0, '127.0.0.1', 4096, () => answerCalls(commands, { port: server.address().port }))
