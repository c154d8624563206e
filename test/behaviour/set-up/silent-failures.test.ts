import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import session, { MemoryStore, type SessionData, Store } from 'express-session'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryStore, type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import type { HostSetup } from '../../support/host-under-test.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { listen } from '../../support/listen.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

declare module 'express-session' {
  interface SessionData {
    account: { id: number; name?: string }
  }
}

/** Keeps sessions in files, as session-file-store does. */
class FileStore extends Store {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sessmgr-sessions-'))
  constructor() {
    super()
    onTestFinished(() => rmSync(this.#folder, { recursive: true }))
  }
  #file = (id: string) => join(this.#folder, `${encodeURIComponent(id)}.json`)
  override get(id: string, callback: (error: unknown, data?: SessionData | null) => void) {
    try {
      callback(null, JSON.parse(readFileSync(this.#file(id), 'utf8')))
    } catch {
      callback(null, null)
    }
  }
  override set(id: string, data: SessionData, callback?: (error?: unknown) => void) {
    writeFileSync(this.#file(id), JSON.stringify(data))
    callback?.()
  }
  override destroy(id: string, callback?: (error?: unknown) => void) {
    rmSync(this.#file(id), { force: true })
    callback?.()
  }
}

let logs: unknown[]
beforeEach(() => {
  logs = []
})
afterEach(() => vi.unstubAllEnvs())
const note = (line: unknown) => void logs.push(line)
const logger = { warn: note, error: note }

/** An application as in the examples of Express: its own login by hand, without Passport. */
async function ownLogin(options: SessmgrOptions = {}, store: Store = new MemoryStore()) {
  const limiter = sessmgr({ logger, ...options })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.get('/cart', (req, res) => {
    req.session.cart = ['tea']
    res.sendStatus(204)
  })
  app.get('/login', (req, res, next) => {
    req.session.regenerate((error) => {
      if (error) return next(error)
      req.session.account = { id: 7, name: 'al' }
      res.sendStatus(204)
    })
  })
  app.get('/limiter-login', (req, res, next) => {
    limiter.login(req, { id: 7 }).then(() => {
      req.session.account = { id: 7 }
      res.sendStatus(204)
    }, next)
  })
  const origin = await listen(app)
  return { limiter, browser: () => new Browser(origin) }
}

describe('an application without Passport', () => {
  test('that logs users in by itself, and says nothing of it, is warned once', async () => {
    const { browser } = await ownLogin()
    await browser().get('/cart')
    expect(logs).toEqual([])
    for (let login = 0; login < 3; login++) expect((await browser().get('/login')).status).toBe(204)
    expect(logs).toEqual([
      expect.stringMatching(/sessmgr has seen no login.*so nothing is limited.*sessionUser.*limiter\.login/s),
    ])
  })

  test('whose sessionUser reads the wrong field is warned', async () => {
    const { browser } = await ownLogin({ sessionUser: ({ userId }) => userId })
    await browser().get('/login')
    expect(logs).toEqual([expect.stringMatching(/sessmgr has seen no login/)])
  })

  test.each([
    ['the user', ({ account }: Record<string, unknown>) => account, 'an object'],
    ['no number', () => Number.NaN, 'a number that is not an integer'],
  ])('whose sessionUser returns %s is told what it must return', async (_what, sessionUser, found) => {
    const { browser } = await ownLogin({ sessionUser: sessionUser as () => number })
    for (let login = 0; login < 2; login++) await browser().get('/login')
    expect(logs).toContainEqual(
      expect.stringContaining(`"sessionUser" must return the user's id, a string or an integer, but returned ${found}`),
    )
    // No other warning contradicts it.
    expect(logs).toHaveLength(1)
  })

  test('that says whose its sessions are is limited, and warned of nothing', async () => {
    const { browser, limiter } = await ownLogin({ sessionUser: ({ account }) => account?.id })
    for (let login = 0; login < 3; login++) await browser().get('/login', { headers: { 'user-agent': 'Firefox' } })
    expect(await limiter.sessions.list(7)).toMatchObject([{ ip: '127.0.0.1', userAgent: 'Firefox' }])
    expect(logs).toEqual([])
  })

  test('that logs in by limiter.login is warned of nothing', async () => {
    const { browser } = await ownLogin()
    await browser().get('/cart')
    await browser().get('/limiter-login')
    expect(logs).toEqual([])
  })
})

test.each(['redirect', 'plain', 'limiter'] as const)(
  'an ordinary application, login by %s, is warned of nothing',
  async (way) => {
    const host = await startExpressHost({ way })
    const laptop = await host.signedIn('alice')
    await laptop.post('/cart', { item: 'tea' })
    await host.browser().post('/cart', { item: 'tea' })
    await laptop.post('/logout')
    expect(host.logs).toEqual([])
  },
)

describe('sessions that outlive the process, over a store that does not', () => {
  const LASTING = /^The session store seems to survive a restart.*sessmgr\/redis\. If .* memory: true .* See \S+$/s

  test('are warned of once, at the start where the session store is named', async () => {
    const sessionStore = new FileStore()
    const { browser } = await ownLogin({ sessionStore, sessionUser: ({ account }) => account?.id }, sessionStore)
    expect(logs).toEqual([expect.stringMatching(LASTING)])
    await browser().get('/login')
    expect(logs).toHaveLength(1)
    expect(logs[0]).not.toContain('production')
  })

  test('are warned of at the first request where it is not, and more strongly in production', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const { browser } = await ownLogin({}, new FileStore())
    await browser().get('/cart')
    expect(logs).toEqual([expect.stringMatching(LASTING)])
    expect(logs[0]).toContain('Do not run this in production')
  })

  test('are not where the store lasts as well', async () => {
    const { browser } = await ownLogin({ store: { ...memoryStore(), local: false } }, new FileStore())
    await browser().get('/cart')
    expect(logs).toEqual([])
  })

  test.each([
    ['Fastify', (setup: HostSetup) => startFastifyHost(setup)],
    ['Koa', (setup: HostSetup) => startKoaHost(setup)],
  ])('are warned of under %s', async (_name, start) => {
    const host = await start({ sessmgr: { logger } })
    await host.browser().get('/')
    expect(logs).toEqual([expect.stringMatching(LASTING)])
  })

  test('are not under Fastify with its own memory store', async () => {
    const { default: fastifySession } = await import('@fastify/session')
    const host = await startFastifyHost({
      store: Reflect.construct(fastifySession.MemoryStore as never, []),
      sessmgr: { logger },
    })
    await host.browser().login('alice')
    expect(logs).toEqual([])
  })
})

describe('several processes over a store of each its own', () => {
  const start = (env: Record<string, string>, options: SessmgrOptions = {}) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    onTestFinished(sessmgr({ logger, ...options }).close)
  }

  test.each([
    ['WEB_CONCURRENCY', { WEB_CONCURRENCY: '2' }],
    ['PM2', { pm_id: '0', instances: '2' }],
    ['PM2', { pm_id: '1', NODE_APP_INSTANCE: '1' }],
  ])('are warned of at the start, by %s', (name, env) => {
    start(env)
    expect(logs).toEqual([
      expect.stringMatching(/^Several processes seem to serve this application.*sessmgr\/redis\. See \S+$/s),
    ])
    expect(logs[0]).toContain(name)
  })

  test.each([
    { WEB_CONCURRENCY: '1' },
    { WEB_CONCURRENCY: '' },
    { pm_id: '0', instances: '1', NODE_APP_INSTANCE: '0' },
  ])('are not seen in %j', (env) => {
    start(env)
    expect(logs).toEqual([])
  })

  test('are none with a store that they share', () => {
    start({ WEB_CONCURRENCY: '4' }, { store: { ...memoryStore(), local: false } })
    expect(logs).toEqual([])
  })
})

describe('rule 52: a site-wide logout that a restart forgets', () => {
  test('is said once', async () => {
    const { limiter, browser } = await ownLogin({}, new FileStore())
    await browser().get('/cart')
    for (let turn = 0; turn < 2; turn++) await limiter.sessions.logoutAllUsers()
    expect(logs.slice(1)).toEqual([
      expect.stringMatching(/^Every user was logged out, but a restart forgets this logout/),
    ])
  })

  test('is none where the sessions end with the process as well', async () => {
    const { limiter, browser } = await ownLogin()
    await browser().get('/cart')
    await limiter.sessions.logoutAllUsers()
    expect(logs).toEqual([])
  })

  test('is none with a store that lasts', async () => {
    const { limiter, browser } = await ownLogin({ store: { ...memoryStore(), local: false } }, new FileStore())
    await browser().get('/cart')
    await limiter.sessions.logoutAllUsers()
    expect(logs).toEqual([])
  })
})

test('limiter.router() without app.use(limiter) is told at the first call of somebody with a session', async () => {
  const limiter = sessmgr({ logger, host: restHostOf(createRestUsers()) })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: true }))
  app.use('/api', limiter.router())
  const browser = new Browser(await listen(app))
  for (let call = 0; call < 3; call++) expect((await browser.get('/api/sessmgr/v1/settings')).status).toBe(401)
  expect(logs).toEqual([
    expect.stringMatching(/^sessmgr is not mounted before limiter\.router\(\).*app\.use\(limiter\)/),
  ])
})
