import { once } from 'node:events'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import express5, { type Express, type NextFunction, type Request, type Response } from 'express'
import session, { MemoryStore } from 'express-session'
import express4 from 'express4'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type SessionSettings, sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'

/** Saves as late as a store over a network does. */
class LateStore extends MemoryStore {
  delayMs = 30
  /** How many writes have begun. */
  begun = 0

  override set(id: string, data: session.SessionData, done?: (error?: unknown) => void): void {
    this.begun += 1
    setTimeout(() => super.set(id, data, done), this.delayMs)
  }
}

interface Person {
  user?: string
  cart?: string[]
}

const personOf = (req: Request) => req.session as unknown as Person

interface Setup {
  readonly express?: typeof express5 | typeof express4
  readonly settings?: Partial<SessionSettings>
  readonly regenerates?: boolean
  readonly saves?: boolean
  /** Whether the application reports a failed `save` itself. */
  readonly answers?: (req: Request, res: Response) => unknown
}

/** An application with a login of its own, which tells sessmgr nothing about it. */
async function start({ express = express5, settings, regenerates, saves, answers }: Setup = {}) {
  const app = express() as Express
  app.set('env', 'test')
  const store = new LateStore()
  const logs: string[] = []
  const log = (line: string) => void logs.push(line)
  const errors: unknown[] = []
  const limiter = sessmgr({
    settings: { maximum: 2, logic: 'block', idle_release: 3600, ...settings },
    sessionUser: ({ user }) => user as string | undefined,
    logger: { warn: log, error: log },
  })
  onTestFinished(() => limiter.close())
  app.use(session({ secret: 'x', resave: false, saveUninitialized: false, store }), limiter as never)
  app.get('/me', (req, res) => void res.json(personOf(req).user ?? null))
  app.post('/cart', (req, res) => {
    personOf(req).cart = ['tea']
    res.json(personOf(req).cart)
  })
  app.get('/cart', (req, res) => void res.json(personOf(req).cart ?? []))
  const answer = answers ?? ((_req, res) => res.cookie('token', 'secret').status(201).json({ welcome: 'alice' }))
  app.post('/login', (req, res, next) => {
    const enter = () => {
      personOf(req).user = 'alice'
      if (!saves) return answer(req, res)
      req.session.save((error) => (error ? next(error) : answer(req, res)))
    }
    if (regenerates) req.session.regenerate((error) => (error ? next(error) : enter()))
    else enter()
  })
  app.use((error: Error & { status?: number; code?: string }, _req: Request, res: Response, next: NextFunction) => {
    errors.push(error)
    if (res.headersSent) return next(error)
    res.status(error.status ?? 500).json({ code: error.code })
  })
  const origin = await listen(app)
  const live = async () => (await limiter.sessions.list('alice')).length
  return { origin, limiter, store, logs, errors, live, browser: () => new Browser(origin) }
}

describe.each([
  ['Express 5', express5],
  ['Express 4', express4],
])('decision 73, by %s', (_name, express) => {
  const redirect = (_req: Request, res: Response) => res.redirect(303, '/me')

  test.each([
    ['a new id, by save() and JSON', { regenerates: true, saves: true }],
    ['a new id, by a redirect', { regenerates: true, answers: redirect }],
    ['the same id, by JSON', {}],
    ['the same id, by save() and a redirect', { saves: true, answers: redirect }],
  ])('20 parallel logins with %s: as many say that they are signed in as sessions are live', async (_way, setup) => {
    const { origin, live } = await start({ express, ...setup })
    const logins = await Promise.all(
      Array.from({ length: 20 }, async () => {
        // Resolves at the head of the answer, and uses its cookie at once.
        const { status, headers } = await fetch(`${origin}/login`, { method: 'POST', redirect: 'manual' })
        const cookie = headers.getSetCookie().map((one) => one.split(';')[0])
        const me = await fetch(`${origin}/me`, { headers: { cookie: cookie.join('; ') } })
        return { status, user: await me.json() }
      }),
    )
    const welcome = logins.filter(({ status }) => status < 400)
    expect([welcome.length, await live()]).toEqual([2, 2])
    expect(welcome.map(({ user }) => user)).toEqual(['alice', 'alice'])
    const refused = logins.filter(({ status }) => status >= 400)
    expect(refused.map(({ status, user }) => [status, user])).toEqual(Array(18).fill([403, null]))
  })

  test('a refused answer is a 403 without any header or cookie of the success', async () => {
    const { browser, errors, logs } = await start({ express, settings: { maximum: 1 } })
    await browser().post('/login')
    const refused = await browser().post('/login')
    expect([refused.status, refused.json(), refused.setCookies]).toEqual([403, { code: 'login_limit_reached' }, []])
    // Express logs the stack, which is one line.
    expect(errors.map((error) => (error as Error).stack)).toEqual([expect.stringMatching(/^SessmgrError: .+$/)])
    const script = await browser().request('POST', '/login', { headers: { accept: 'application/json' } })
    expect([script.status, script.json()]).toMatchObject([403, { code: 'login_limit_reached', data: { status: 403 } }])
    expect(logs).toEqual([])
  })
})

describe('decision 73', () => {
  test("a refused login leaves the visitor's session as it was", async () => {
    const { browser, limiter } = await start({ settings: { maximum: 1 } })
    await browser().post('/login')
    const visitor = browser()
    await visitor.post('/cart')
    const id = visitor.sessionId()
    expect((await visitor.post('/login')).status).toBe(403)
    expect([visitor.sessionId(), (await visitor.get('/cart')).json()]).toEqual([id, ['tea']])
    expect((await visitor.get('/me')).json()).toBeNull()
    await limiter.sessions.endAll('alice')
    expect((await visitor.post('/login')).status).toBe(201)
    expect((await visitor.get('/me')).json()).toBe('alice')
  })

  test('an application that is told of the refusal by save() gives its own answer', async () => {
    const { browser, errors } = await start({ settings: { maximum: 1 }, saves: true, regenerates: true })
    await browser().post('/login')
    const refused = await browser().post('/login')
    expect([refused.status, refused.json()]).toEqual([403, { code: 'login_limit_reached' }])
    expect(errors).toHaveLength(1)
  })

  test('a browser that follows the head of an answer is signed in, however late the store saves', async () => {
    const { origin, store, live } = await start({ regenerates: true, answers: (_req, res) => res.redirect('/me') })
    store.delayMs = 150
    const login = await fetch(`${origin}/login`, { method: 'POST', redirect: 'manual' })
    const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const page = await fetch(`${origin}/me`, { headers: { cookie } })
    expect([await page.json(), page.headers.getSetCookie(), await live()]).toEqual(['alice', [], 1])
  })

  test('an id that is not text, with which express-session saves nothing, is no login', async () => {
    const { browser, live, errors } = await start({
      answers(req, res) {
        Object.assign(req, { sessionID: 42 })
        res.json('as without sessmgr')
      },
    })
    const answer = await browser().post('/login')
    expect([answer.status, answer.setCookies, await live(), errors]).toEqual([200, [], 0, []])
  })

  test('an answer that cannot be held is warned of once, at the first refusal', async () => {
    const { browser, logs, live } = await start({
      settings: { maximum: 1 },
      answers(_req, res) {
        res.write('welcome')
        res.end()
      },
    })
    for (let login = 0; login < 4; login++)
      await browser()
        .post('/login')
        .catch(() => {})
    expect(logs).toEqual([expect.stringContaining('A login was refused after its response had begun')])
    expect(await live()).toBe(1)
  })
})

test('decision 73: an answer over HTTP/2 is held as well', async () => {
  const store = new LateStore()
  const limiter = sessmgr({
    settings: { maximum: 1, logic: 'block', idle_release: 3600 },
    sessionUser: ({ user }) => user as string | undefined,
  })
  const withSession = session({ secret: 'x', resave: false, saveUninitialized: false, store })
  const server = createHttp2Server((request, response) => {
    // express-session asks HTTP/1 for this.
    Object.assign(response, { _implicitHeader: () => response.writeHead(response.statusCode) })
    const fail = (error: Error & { status?: number }) => {
      response.statusCode = error.status ?? 500
      response.end(String(response.headersSent))
    }
    const enter = () => {
      Object.assign((request as unknown as Request).session, { user: 'alice' })
      response.setHeader('x-token', 'secret')
      response.end('welcome')
      expect(response.headersSent).toBe(true)
    }
    withSession(request as never, response as never, () =>
      limiter(request as never, response as never, (error?: unknown) => (error ? fail(error as Error) : enter())),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(async () => {
    client.close()
    await new Promise((closed) => server.close(closed))
    await limiter.close()
  })
  const login = async () => {
    const stream = client.request({ ':path': '/' })
    const [headers] = await once(stream, 'response')
    return [headers[':status'], headers['x-token'], Boolean(headers['set-cookie']), await text(stream)]
  }
  expect(await login()).toEqual([200, 'secret', true, 'welcome'])
  expect(await login()).toEqual([403, undefined, false, 'false'])
  expect(await limiter.sessions.count('alice')).toBe(1)
})
