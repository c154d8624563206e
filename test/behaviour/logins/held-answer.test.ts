import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import compression from 'compression'
import express5, { type Express, type NextFunction, type Request, type Response } from 'express'
import session, { MemoryStore } from 'express-session'
import express4 from 'express4'
import { expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { listen } from '../../support/listen.ts'
import { rawRequest } from '../../support/raw-request.ts'

/** Saves as late as a store over a network does. */
class LateStore extends MemoryStore {
  override set(id: string, data: session.SessionData, done?: (error?: unknown) => void): void {
    setTimeout(() => super.set(id, data, done), 20)
  }
}

type Handler = (req: Request, res: Response, note: (...noted: unknown[]) => void) => unknown

const FILE = fileURLToPath(new URL('../../support/raw-request.ts', import.meta.url))

interface Setup {
  readonly express?: typeof express5 | typeof express4
  readonly before?: express5.RequestHandler
  readonly after?: express5.RequestHandler
  /** Whether the application answers errors itself, unless the response was sent. */
  readonly answersErrors?: boolean
}

const ANSWERS: Record<string, Handler> = {
  json: (_req, res) => res.json({ in: true }),
  'send of nothing': (_req, res) => res.status(204).send(),
  redirect: (_req, res) => res.redirect('/me'),
  'its own status message': (_req, res) => {
    res.statusMessage = 'Fine'
    res.status(201).send('in')
  },
  'end of a string': (_req, res) => res.end('in'),
  'end of a buffer, with a callback': (_req, res, note) => res.end(Buffer.from('in'), () => note('ended')),
  'two ends': (_req, res, note) => {
    note(res.end('first') === undefined, res.headersSent)
    res.end('second')
  },
  'json twice': (_req, res) => {
    res.json({ in: true })
    res.status(201).set('X-Second', '1').json({ second: true })
  },
  'json, then a throw': async (_req, res) => {
    res.json({ in: true })
    throw new Error('after the answer')
  },
  'a header after the end': (_req, res) => {
    res.json({ in: true })
    res.setHeader('X-Late', '1')
  },
  'a status after the end': (_req, res) => {
    res.json({ in: true })
    res.status(500)
  },
  'writeHead and end': (_req, res) => res.writeHead(302, { Location: '/me' }).end(),
  'write and end': (_req, res) => {
    res.write('i')
    res.end('n')
  },
  'a pipe': (_req, res) => Readable.from(['i', 'n']).pipe(res),
  'an empty pipe': (_req, res) => Readable.from([]).pipe(res),
  sendFile: (_req, res) => res.sendFile(FILE),
  'a login under way': (_req, res) => setImmediate(() => res.json({ in: true })),
  'what finishes and closes': (_req, res, note) => {
    res.on('finish', () => note('finish')).on('close', () => note('close'))
    res.json({ in: true })
  },
}

/** Starts the application, which signs another user in by each answer. Returns what somebody sees, and what it notices. */
async function start({ express = express5, before, after, answersErrors }: Setup, limited: boolean) {
  const app = express() as Express
  app.set('env', 'test')
  const noted = new Map<string, unknown[]>()
  const noteOf = (req: Request) => {
    const notes = noted.get(req.url) ?? []
    noted.set(req.url, notes)
    return (...some: unknown[]) => void notes.push(...some)
  }
  if (before) app.use(before)
  app.use(session({ secret: 'x', resave: false, saveUninitialized: false, store: new LateStore() }))
  const sessionUser = (data: { user?: unknown }) => data.user as string | undefined
  const limiter = sessmgr({ settings: { logic: 'block' }, sessionUser, logger: { warn() {}, error() {} } })
  onTestFinished(() => limiter.close())
  if (limited) app.use(limiter as never)
  if (after) app.use(after)
  app.all('/login/:name/:method', (req, res, next) => {
    Object.assign(req.session, { user: req.url })
    // Express 4 does not see a rejected promise.
    Promise.resolve()
      .then(() => ANSWERS[req.params.name as string]?.(req, res, noteOf(req)))
      .catch(next)
  })
  app.use((error: Error, req: Request, res: Response, next: NextFunction) => {
    noteOf(req)([error.message, res.headersSent])
    if (!answersErrors || res.headersSent) return next(error)
    res.status(500).json({ error: error.message })
  })
  const origin = await listen(app)
  return async (name: string, method: string) => {
    const path = `/login/${encodeURIComponent(name)}/${method}`
    const head = [`${method} ${path} HTTP/1.1`, 'Host: a', 'Accept-Encoding: gzip']
    const [status, text] = await rawRequest(origin, head)
    return { name, method, status, text: alike(text), notes: noted.get(path) }
  }
}

/** Replaces what is new in each run. */
const alike = (text: string) =>
  text
    .replace(/connect\.sid=[^;\r]+/g, 'connect.sid=<id>')
    .replace(/^(Date|ETag|Last-Modified): .*$/gim, '$1: <new>')
    .replace(/Expires=[^;\r]+/g, 'Expires=<new>')

test.each<[string, Setup]>([
  ['Express 5', {}],
  ['Express 5 with an error handler of its own', { answersErrors: true }],
  ['Express 5 with compression before sessmgr', { before: compression({ threshold: 0 }) }],
  ['Express 5 with compression after sessmgr', { after: compression({ threshold: 0 }) }],
  ['Express 4', { express: express4 }],
  ['Express 4 with compression after sessmgr', { express: express4, after: compression({ threshold: 0 }) }],
])('decision 73: a held answer of %s is that of the application without sessmgr', async (_name, setup) => {
  const [plain, limited] = [await start(setup, false), await start(setup, true)]
  const all = Object.keys(ANSWERS).flatMap((name) => ['GET', 'HEAD'].map((method) => [name, method] as const))
  const answered = await inParallel(all.length, 12, async (index) => {
    const [name, method] = all[index] as (typeof all)[number]
    const [expected, answer] = [await plain(name, method), await limited(name, method)]
    expect(answer).toEqual(expected)
    return answer
  })
  const statuses = answered.map(({ status }) => status)
  expect(statuses).toEqual(expect.arrayContaining([200, 201, 204, 302]))
})
