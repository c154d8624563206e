// An application on Fastify, on Koa or on Node's http, with its sessions in Redis, with and without sessmgr.
import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import fastifyCookie from '@fastify/cookie'
import fastifySession from '@fastify/session'
import { RedisStore } from 'connect-redis'
import Fastify from 'fastify'
import Koa from 'koa'
import koaSession from 'koa-session'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { explicitCalls } from 'sessmgr/explicit'
import { fastifySessmgr } from 'sessmgr/fastify'
import { koaSessmgr } from 'sessmgr/koa'
import { redisStore } from 'sessmgr/redis'
import { answerBench } from './answer-bench.ts'

const LIFE_MS = 2 * 24 * 60 * 60_000
const SECRET = 'a secret of the benchmark, of 32 characters or more'

type Reading = { get(key: string): Promise<string | null> }

const kind = process.argv[2]
/** Whether sessmgr is not shown how to read a session, as before 3.4. */
const isUnread = kind === 'fallback'
const client = createClient({ url: process.env.REDIS_URL ?? '', commandOptions: { timeout: undefined } })
client.on('error', () => {})
await client.connect()
const limiter =
  kind === 'plain'
    ? undefined
    : sessmgr({
        store: redisStore({ client }),
        settings: { maximum: 10, logic: 'logout_oldest' },
        sessionUser: ({ userId }: { userId?: string }) => userId,
      })

const FRAMEWORKS: Record<string, () => Promise<void> | void> = { fastify: onFastify, koa: onKoa, explicit: onHttp }
await FRAMEWORKS[process.env.FRAMEWORK ?? '']?.()

const usernameIn = (form: string) => new URLSearchParams(form).get('username') ?? ''

async function onFastify(): Promise<void> {
  const server = Fastify()
  const forms = 'application/x-www-form-urlencoded'
  server.addContentTypeParser(forms, { parseAs: 'string' }, (_request, body, done) => done(null, body))
  await server.register(fastifyCookie)
  const store = new RedisStore({ client }) as never
  await server.register(fastifySession, {
    store,
    secret: SECRET,
    saveUninitialized: false,
    cookie: { secure: false, maxAge: LIFE_MS },
  })
  if (limiter) await server.register(fastifySessmgr, { limiter })
  server.post('/login', async (request, reply) => {
    const id = usernameIn(String(request.body))
    if (limiter) await limiter.login(request, { id })
    else await request.session.regenerate()
    Object.assign(request.session, { userId: id })
    return reply.code(204).send()
  })
  server.get('/me', async (request, reply) => {
    const { userId: id } = request.session as { userId?: string }
    return id === undefined ? reply.code(401).send() : { id }
  })
  answerBench(server.server)
  await server.listen({ port: 0, host: '127.0.0.1' })
}

function onKoa(): void {
  const server = new Koa()
  server.keys = [SECRET]
  const keyOf = (id: string) => `sess:${id}`
  const read = async (from: Reading, id: string) => JSON.parse((await from.get(keyOf(id))) ?? 'null') ?? undefined
  const store = {
    get: (id: string) => read(client, id),
    set: (id: string, data: unknown) => client.set(keyOf(id), JSON.stringify(data), { PX: LIFE_MS }),
    destroy: (id: string) => client.del(keyOf(id)),
  }
  server.use(koaSession({ store: store as never, maxAge: LIFE_MS }, server))
  if (limiter) server.use(koaSessmgr(limiter, server, isUnread ? {} : { read }))
  server.use(async (ctx) => {
    const session = ctx.session as { userId?: string; regenerate(): Promise<void> }
    if (ctx.method === 'POST') {
      const id = usernameIn(await text(ctx.req))
      if (limiter) await limiter.login(ctx, { id })
      else await session.regenerate()
      Object.assign(ctx.session ?? {}, { userId: id })
      ctx.status = 204
    } else {
      ctx.status = session.userId === undefined ? 401 : 200
      ctx.body = { id: session.userId }
    }
  })
  answerBench(server.listen(0, '127.0.0.1'))
}

function onHttp(): void {
  const keyOf = (id: string) => `sess:${id}`
  const destroy = (id: string) => client.del(keyOf(id))
  const calls = limiter && explicitCalls(limiter, { exists: (id) => client.exists(keyOf(id)), destroy })
  const sign = (id: string) => createHmac('sha256', SECRET).update(id).digest('base64url')

  async function login(userId: string): Promise<string> {
    const sessionId = randomBytes(24).toString('base64url')
    const create = async () => {
      await client.set(keyOf(sessionId), JSON.stringify({ userId }), { PX: LIFE_MS })
      return { sessionId, ttlMs: LIFE_MS }
    }
    await (calls ? calls.login({ userId }, create) : create())
    return `sid=${sessionId}.${sign(sessionId)}`
  }

  async function checked(data: { userId: string } | null, sessionId: string) {
    return { data, session: data && (await calls?.check({ ...data, sessionId }))?.session }
  }

  async function userOf({ headers }: IncomingMessage): Promise<string | undefined> {
    const [, sessionId = '', signature] = /sid=([\w-]+)\.([\w-]+)/.exec(headers.cookie ?? '') ?? []
    if (signature !== sign(sessionId)) return undefined
    const read = async (from: Reading = client) =>
      JSON.parse((await from.get(keyOf(sessionId))) ?? 'null') as { userId: string } | null
    if (!calls) return (await read())?.userId
    const { data, session } = isUnread ? await checked(await read(), sessionId) : await calls.load({ sessionId }, read)
    if (!data || !session) return undefined
    await calls.touch({ userId: data.userId, sessionId, ttlMs: LIFE_MS })
    return data.userId
  }

  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const cookie = await login(usernameIn(await text(request)))
      response.writeHead(204, { 'set-cookie': cookie }).end()
    } else {
      const id = await userOf(request)
      const body = JSON.stringify({ id })
      response.writeHead(id === undefined ? 401 : 200, { 'content-length': body.length }).end(body)
    }
  })
  answerBench(server.listen(0, '127.0.0.1'))
}
