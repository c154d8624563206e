import express from 'express'
import session, { MemoryStore } from 'express-session'
import { expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { FORTNIGHT } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { listen } from '../../support/listen.ts'

const QUARTER = 15 * 60_000

interface Scene {
  readonly browser: Browser
  /** Milliseconds until the session expires in its store, and in the registry. */
  lives(): Promise<[number, number]>
}

const until = (time: unknown) => new Date(time as string).getTime() - Date.now()

async function onExpress(): Promise<Scene> {
  const limiter = sessmgr()
  onTestFinished(() => limiter.close())
  const store = new MemoryStore() as MemoryStore & { sessions: Record<string, string> }
  const app = express()
  app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false, cookie: { maxAge: FORTNIGHT } }))
  app.use(limiter)
  app.post('/login', (req, res, next) => {
    limiter.login(req, { id: 2 }).then(() => res.sendStatus(204), next)
  })
  app.get('/shorten', (req, res) => {
    req.session.cookie.maxAge = QUARTER
    res.sendStatus(204)
  })
  app.get('/', (_req, res) => void res.sendStatus(204))
  const browser = new Browser(await listen(app))
  await browser.post('/login')
  const stored = () => JSON.parse(store.sessions[browser.sessionId() ?? ''] ?? '{}').cookie.expires
  return { browser, lives: async () => [until(stored()), until((await limiter.sessions.list(2))[0]?.expiresAt)] }
}

async function onFastify(): Promise<Scene> {
  const sessions = new JsonSessions()
  const host = await startFastifyHost({
    sessions,
    further: ({ app }) =>
      app.get('/shorten', async (request) => {
        request.session.cookie.maxAge = QUARTER
        return ''
      }),
  })
  return sceneOf(host, (data) => (data.cookie as { expires: string }).expires)
}

async function onKoa(): Promise<Scene> {
  const host = await startKoaHost({
    further: () => ({
      'GET /shorten': (ctx) => {
        Object.assign(ctx.session as object, { maxAge: QUARTER })
        ctx.body = ''
      },
    }),
  })
  return sceneOf(host, (data) => data._expire)
}

async function sceneOf(
  { browser: open, limiter, sessions, sessionIdOf }: Awaited<ReturnType<typeof startKoaHost>>,
  expiry: (data: Record<string, unknown>) => unknown,
): Promise<Scene> {
  const browser = open()
  await browser.login('alice')
  const stored = () => expiry(sessions.read(sessionIdOf(browser)) as Record<string, unknown>)
  return { browser, lives: async () => [until(stored()), until((await limiter.sessions.list(2))[0]?.expiresAt)] }
}

test.each([
  ['Express', onExpress],
  ['Fastify', onFastify],
  ['Koa', onKoa],
])(
  'a shorter life that the application gives a session is kept, in its store and in the registry, on %s',
  async (_name, start) => {
    const { browser, lives } = await start()
    await browser.get('/')
    for (const life of await lives()) expect(life).toBeGreaterThan(FORTNIGHT - QUARTER)
    await browser.get('/shorten')
    for (const life of await lives()) {
      expect(life).toBeGreaterThan(0)
      expect(life).toBeLessThanOrEqual(QUARTER)
    }
  },
)
