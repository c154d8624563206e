import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import express from 'express'
import session, { MemoryStore, type SessionData, Store } from 'express-session'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { memoryStore, type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { aWarning } from '../../support/a-warning.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { ownFolder } from '../../support/own-folder.ts'

declare module 'express-session' {
  interface SessionData {
    account: { id: number; name?: string }
  }
}

/** Keeps sessions in files, as session-file-store does. */
class FileStore extends Store {
  readonly #folder: string
  constructor(folder: string) {
    super()
    this.#folder = folder
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
  return { limiter, origin, browser: () => new Browser(origin) }
}

describe('an application without Passport', () => {
  test('that logs users in by itself, and says nothing of it, is warned once', async () => {
    const { browser } = await ownLogin()
    await browser().get('/cart')
    await browser().get('/login')
    expect(logs).toEqual([])
    for (let login = 0; login < 3; login++) expect((await browser().get('/login')).status).toBe(204)
    expect(logs).toEqual([
      aWarning('no-login-seen', /sessmgr has seen no login, so nothing is limited.*sessionUser.*limiter\.login/),
    ])
  })

  test('whose sessionUser reads the wrong field is warned', async () => {
    const { browser } = await ownLogin({ sessionUser: ({ userId }) => userId })
    for (let login = 0; login < 3; login++) await browser().get('/login')
    expect(logs).toEqual([aWarning('no-login-seen')])
  })

  test('is not warned of a visitor who saves one session again and again', async () => {
    const { browser } = await ownLogin()
    const visitor = browser()
    for (let visit = 0; visit < 5; visit++) await visitor.get('/cart')
    expect(logs).toEqual([])
  })

  test.each([
    ['the user', ({ account }: Record<string, unknown>) => account, 'an object'],
    ['no number', () => Number.NaN, 'a number that is not an integer'],
  ])('whose sessionUser returns %s is told what it must return', async (_what, sessionUser, found) => {
    const { browser } = await ownLogin({ sessionUser: sessionUser as () => number })
    for (let login = 0; login < 2; login++) await browser().get('/login')
    const message = new RegExp(`"sessionUser" must return the user's id, a string or an integer, but returned ${found}`)
    expect(logs).toEqual([aWarning('session-names-another-user', message)])
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
    for (let visit = 0; visit < 5; visit++) await browser().get('/cart')
    expect(logs).toEqual([])
  })
})

describe('rules 52 and 89: a store in memory', () => {
  const OTHERS = aWarning('several-memory-stores', /^Another process uses a session of this process.*sessmgr\/redis/)

  /** The same application again, as after a restart or in a second process. */
  const ownLogins = async (options: SessmgrOptions = {}) => {
    const folder = ownFolder()
    const sessionUser: SessmgrOptions['sessionUser'] = ({ account }) => account?.id
    const start = () => ownLogin({ sessionUser, ...options }, new FileStore(folder))
    return { first: await start(), second: await start() }
  }

  test('is warned of once in each process when its session comes back from another process', async () => {
    const { first, second } = await ownLogins()
    const browser = first.browser()
    await browser.get('/login')
    expect((await browser.get('/cart')).status).toBe(204)
    expect(logs).toEqual([])
    const other = browser.copy(second.origin)
    // A restart looks the same at first.
    for (let turn = 0; turn < 2; turn++) expect((await other.get('/cart')).status).toBe(204)
    expect(logs).toEqual([])
    // The first process reads its own session with the pair of the second.
    for (let turn = 0; turn < 2; turn++) expect((await browser.get('/cart')).status).toBe(204)
    expect(logs).toEqual([OTHERS])
    expect((await other.get('/cart')).status).toBe(204)
    expect(logs.slice(1)).toEqual([OTHERS])
  })

  test('is not where the processes share it', async () => {
    const { first, second } = await ownLogins({ store: { ...memoryStore(), local: false } })
    const browser = first.browser()
    await browser.get('/login')
    expect((await browser.copy(second.origin).get('/cart')).status).toBe(204)
    expect(logs).toEqual([])
  })

  test('is not where this process itself has emptied it', async () => {
    const { first } = await ownLogins()
    const browser = first.browser()
    await browser.get('/login')
    await first.limiter.uninstall()
    expect((await browser.get('/cart')).status).toBe(204)
    expect(logs).toEqual([])
  })
})
