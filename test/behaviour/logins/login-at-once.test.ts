import { get, type IncomingMessage } from 'node:http'
import { RedisStore } from 'connect-redis'
import express, { type Response } from 'express'
import session from 'express-session'
import passport from 'passport'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import type { NodeRedis } from '../../support/redis-client.ts'
import { userKey } from '../../support/redis-rows.ts'
import { useRedis } from '../../support/use-redis.ts'

const db = useRedis()

const MINUTE_MS = 60_000
const LIFE_MS = 14 * 24 * 60 * MINUTE_MS

/** Starts an application on Redis, in which `answer` answers logins. */
async function start(answer: (response: Response) => void) {
  const client: NodeRedis = Object.assign(Object.create(db.client), { withCommandOptions: () => client })
  const limiter = sessmgr({ store: redisStore({ client }), settings: { maximum: 2, logic: 'logout_oldest' } })
  onTestFinished(() => limiter.close())
  const authentication = new passport.Passport()
  authentication.serializeUser((user, done) => done(null, (user as unknown as { id: string }).id))
  authentication.deserializeUser((id: string, done) => done(null, { id } as unknown as Express.User))
  const app = express()
  const store = new RedisStore({ client })
  app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false, cookie: { maxAge: LIFE_MS } }))
  app.use(limiter, authentication.session())
  app.get('/in/:id', (req, res, next) => {
    const { id } = req.params
    const answerTo = (error: unknown) => {
      if (error) next(error)
      else if (id === 'first') res.sendStatus(200)
      else answer(res)
    }
    req.logIn({ id } as unknown as Express.User, answerTo)
  })
  app.get('/me', (req, res) => void res.sendStatus(req.user ? 200 : 401))
  const origin = await listen(app)
  // The first login of a process loads what later ones know.
  expect((await new Browser(origin).get('/in/first')).status).toBe(200)
  /** Lifetimes of alice's sessions, in minutes. */
  const lives = async () => {
    const sessions = await limiter.sessions.list('alice')
    return sessions.map(({ expiresAt, lastSeenAt }) => Math.round((expiresAt - lastSeenAt) / MINUTE_MS))
  }
  return { client, origin, lives }
}

describe('a login in Redis', () => {
  it('has its full lifetime after its response, and two minutes before it', async () => {
    const arrived = vi.fn()
    const { origin, lives } = await start((response) => {
      lives()
        .then(arrived, arrived)
        .finally(() => response.sendStatus(200))
    })
    expect((await new Browser(origin).get('/in/alice')).status).toBe(200)
    expect(arrived).toHaveBeenCalledWith([2])
    await vi.waitFor(async () => expect(await lives()).toEqual([LIFE_MS / MINUTE_MS]))
  })

  it('is answered before that is recorded. If it cannot be, the next request does so', async () => {
    const { client, origin, lives } = await start((response) => void response.sendStatus(200))
    const { evalSha } = client
    let calls = 0
    // The second write of the user.
    const failing = vi.spyOn(client, 'evalSha').mockImplementation((...given) => {
      const { keys: [key] = [], arguments: { length } = [] } = given[1] ?? {}
      const isWrite = key === userKey('alice') && length > 0
      return isWrite && ++calls === 2 ? Promise.reject(new Error('down')) : (evalSha.apply(client, given) as never)
    })
    const browser = new Browser(origin)
    expect((await browser.get('/in/alice')).status).toBe(200)
    await vi.waitFor(() => expect(calls).toBe(2))
    failing.mockRestore()
    expect(await lives()).toEqual([2])
    expect((await browser.get('/me')).status).toBe(200)
    await vi.waitFor(async () => expect(await lives()).toEqual([LIFE_MS / MINUTE_MS]))
  })

  it('rule 5: keeps two minutes where the answer is cut off, until the browser comes back', async () => {
    const { origin, lives } = await start((response) => void response.write('the first lines'))
    const browser = new Browser(origin)
    const request = get(`${origin}/in/alice`, { agent: false })
    const answer = await new Promise<IncomingMessage>((resolve) => request.once('response', resolve))
    const [, value = ''] = /connect\.sid=([^;]+)/.exec(String(answer.headers['set-cookie'])) ?? []
    browser.cookies.set('connect.sid', { value, path: '/' })
    request.destroy()
    expect(await lives()).toEqual([2])
    expect((await browser.get('/me')).status).toBe(200)
    await vi.waitFor(async () => expect(await lives()).toEqual([LIFE_MS / MINUTE_MS]))
  })

  it('rule 5: ends where the browser hangs up before it could receive the cookie', async () => {
    const reached = vi.fn()
    const { origin, lives } = await start(reached)
    const request = get(`${origin}/in/alice`, { agent: false })
    request.on('error', () => {})
    await vi.waitFor(() => expect(reached).toHaveBeenCalled())
    expect(await lives()).toEqual([2])
    request.destroy()
    await vi.waitFor(async () => expect(await lives()).toEqual([]))
  })
})
