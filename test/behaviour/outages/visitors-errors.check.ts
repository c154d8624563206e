import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { createGzip, gunzipSync } from 'node:zlib'
import express from 'express'
import session, { type SessionData } from 'express-session'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryStore, type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { TestStore } from '../../support/test-store.ts'

type Method = 'set' | 'touch' | 'destroy'
type Done = (error?: unknown) => void

/** A store whose methods fail, and which records it. */
class FailingStore extends TestStore {
  readonly failing: Partial<Record<Method, unknown>> = {}
  readonly failed: Method[] = []

  override set(sessionId: string, data: SessionData, done?: Done): void {
    this.#run('set', done, () => super.set(sessionId, data, done))
  }

  override touch(sessionId: string, data: SessionData, done?: Done): void {
    this.#run('touch', done, () => super.touch(sessionId, data, done))
  }

  override destroy(sessionId: string, done?: Done): void {
    this.#run('destroy', done, () => super.destroy(sessionId, done))
  }

  #run(method: Method, done: Done | undefined, run: () => void): void {
    const error = this.failing[method]
    if (error === undefined) return run()
    this.failed.push(method)
    setImmediate(() => done?.(error))
  }
}

/** More than the buffers of a connection hold. */
const LARGE = Buffer.alloc(16_000_000, 'x')
/** What compression leaves as long as it is. */
const RANDOM = randomBytes(5_000_000)

/** The path whose response makes express-session call this method of its store. */
const PATHS = { set: '/changed', touch: '/unchanged', destroy: '/given-up' }
const METHODS = Object.entries(PATHS) as [Method, string][]

interface Setup {
  readonly sessmgr?: SessmgrOptions
  /** Mounted before the session. */
  readonly first?: express.RequestHandler
  /** Sends the response of every path above. */
  readonly answer?: express.RequestHandler
  readonly further?: (app: express.Express) => unknown
}

const change: express.RequestHandler = (req, _res, next) => {
  Object.assign(req.session, { seen: Math.random() })
  next()
}

const unset: express.RequestHandler = (req, _res, next) => {
  Reflect.set(req, 'session', null)
  next()
}

/** An application whose error handler leaves errors after the head to Express, which then cuts the connection. */
async function start({ first, answer = (_req, res) => void res.send(LARGE), further, ...setup }: Setup = {}) {
  const store = new FailingStore()
  const logs: unknown[][] = []
  const errors: unknown[] = []
  const log = (...line: unknown[]) => void logs.push(line)
  const sessionUser: SessmgrOptions['sessionUser'] = ({ userId }) => userId as number | undefined
  const options = { store: memoryStore(), sessionStore: store, sessionUser, logger: { warn: log, error: log } }
  const limiter = sessmgr({ ...options, ...setup.sessmgr })
  onTestFinished(() => limiter.close())
  const app = express().set('env', 'test')
  if (first) app.use(first)
  app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false, unset: 'destroy' }))
  app.use(limiter)
  app.get('/start', change, small)
  app.get(PATHS.set, change, answer)
  app.get(PATHS.touch, answer)
  app.get(PATHS.destroy, unset, answer)
  app.post('/login', (req, res, next) => void limiter.login(req, { id: 2 }).then(() => res.sendStatus(204), next))
  further?.(app)
  const report: express.ErrorRequestHandler = (error, _req, res, next) => {
    errors.push(error)
    if (res.headersSent) next(error)
    else res.status(error.status ?? 500).send('failed')
  }
  app.use(report)
  const origin = await listen(app)
  const visitor = new Browser(origin)
  await visitor.get('/start')

  /** Requests a page, and returns the response without reading it. */
  async function open(path: string, browser = visitor): Promise<IncomingMessage> {
    const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
    const [response] = await once(get(origin + path, { agent: false, headers: { cookie } }), 'response')
    return response
  }

  /** Lets a method of the store fail from now on, and returns the error. */
  function fail<T = Error>(method: Method, error: T = Object.assign(new Error('boom!'), { code: 'EBOOM' }) as T): T {
    store.failing[method] = error
    return error
  }

  return { store, limiter, logs, errors, visitor, open, fail }
}

/** What was logged, without warnings about the set-up, which have no details. */
const failuresIn = (logs: unknown[][]) => logs.filter(([, details]) => details)

const small: express.RequestHandler = (_req, res) => void res.send('small')

const chunked: express.RequestHandler = (_req, res) => {
  res.write(LARGE)
  res.end('the end')
}

/** Compresses responses after they have left express-session, as the middleware `compression` does. */
const compress: express.RequestHandler = (req, res, next) => {
  if (req.path === '/start') return next()
  const { write, end } = res
  const gzip = createGzip()
  gzip.on('data', (chunk) => {
    if (!Reflect.apply(write, res, [chunk])) gzip.pause()
  })
  gzip.on('end', () => void Reflect.apply(end, res, []))
  res.on('drain', () => gzip.resume())
  res.write = ((chunk: string) => gzip.write(chunk)) as typeof write
  res.end = ((chunk: string) => void (chunk === undefined ? gzip.end() : gzip.end(chunk))) as unknown as typeof end
  next()
}

describe('rule 74: an error of the session store as a response ends', () => {
  test.each(METHODS)(
    "from %s, for a visitor's session, reaches the application once all has arrived",
    async (method, path) => {
      const empty: express.RequestHandler = (_req, res) => void res.status(204).end()
      const packed: express.RequestHandler = (_req, res) => void res.set('Content-Encoding', 'gzip').end(RANDOM)
      const setups: Readonly<Record<string, Setup>> = {
        large: {},
        chunked: { answer: chunked },
        small: { answer: small },
        empty: { answer: empty },
        compressed: { first: compress, answer: packed },
      }
      for (const [what, setup] of Object.entries(setups)) {
        const { logs, errors, open, fail, store } = await start(setup)
        const error = fail(method)
        // Rejects if the connection is closed too early.
        const body = await buffer(await open(path))
        if (what === 'compressed') expect(gunzipSync(body).equals(RANDOM)).toBe(true)
        await vi.waitFor(() => expect(errors, what).toEqual([error]))
        expect([failuresIn(logs), store.failed], what).toEqual([[], [method]])
      }
    },
  )

  test('for the session of a login is in the log alone', async () => {
    for (const [method, path] of METHODS) {
      const { store, logs, errors, visitor, fail } = await start({ answer: small, sessmgr: { touchEvery: 1 } })
      await visitor.post('/login')
      fail(method)
      expect((await visitor.get(path)).text).toBe('small')
      await vi.waitFor(() => expect(failuresIn(logs), method).toHaveLength(1))
      expect([errors, store.failed]).toEqual([[], [method]])
    }
  })

  test('for a session that has just lost its user, is in the log alone', async () => {
    const { logs, errors, visitor, fail } = await start({
      further: (app) => {
        app.get('/own', (req, _res, next) => next(void Object.assign(req.session, { userId: 2 })), small)
        app.get('/empty', (req, _res, next) => next(void Reflect.deleteProperty(req.session, 'userId')), small)
      },
    })
    await visitor.get('/own')
    fail('set')
    expect((await visitor.get('/empty')).text).toBe('small')
    await vi.waitFor(() => expect(failuresIn(logs)).toHaveLength(1))
    expect(errors).toEqual([])
  })
})

test('rule 74: an error of the session store is passed on as it is, to callbacks and to the error handler', async () => {
  const seen: unknown[] = []
  const { errors, visitor, fail } = await start({
    further(app) {
      app.get('/save', change, (req, res, next) => {
        req.session.save((error) => (error ? next(error) : void res.send('saved')))
      })
      app.get('/parts', change, (req, res) => {
        res.write('first, ')
        req.session.save((error) => {
          seen.push(error)
          res.end('last')
        })
      })
      app.get('/bye', (req, res) => {
        req.session.destroy((error) => void res.send(error?.message ?? 'bye'))
      })
    },
  })
  const error = fail('set')
  // An error handler may answer with its status, or 503.
  expect((await visitor.get('/save')).status).toBe(503)
  expect((await visitor.get('/parts')).text).toBe('first, last')
  for (const cause of ['boom!', Object.freeze(new Error('boom!'))]) {
    fail('set', cause)
    expect((await visitor.get('/save')).status, 'without a status').toBe(500)
    expect(errors.at(-1)).toBe(cause)
  }
  expect([errors[0], seen[0]]).toEqual([error, error])
  expect(errors[0]).toBe(error)
  fail('destroy')
  expect((await visitor.get('/bye')).text).toBe('boom!')
})
