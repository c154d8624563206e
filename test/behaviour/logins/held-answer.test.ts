import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import compression from 'compression'
import express5, { type Express, type NextFunction, type Request, type Response } from 'express'
import session, { MemoryStore } from 'express-session'
import express4 from 'express4'
import { describe, expect, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { listen } from '../../support/listen.ts'
import { rawRequest } from '../../support/raw-request.ts'

/** Saves and reads as late as a store over a network does. */
class LateStore extends MemoryStore {
  override set(id: string, data: session.SessionData, done?: (error?: unknown) => void): void {
    setTimeout(() => super.set(id, data, done), 30)
  }
}

type Handler = (req: Request, res: Response, next: NextFunction) => unknown
type Answer = { readonly status: number; readonly text: string; readonly notes: readonly unknown[] }

const FILE = fileURLToPath(new URL('./held-answer.test.ts', import.meta.url))

interface Setup {
  readonly express?: typeof express5 | typeof express4
  readonly before?: Handler
  readonly after?: Handler
  readonly limited?: boolean
  /** Whether the application answers errors itself, unless the response was sent. */
  readonly answersErrors?: boolean
}

/** What the application notices of its own response. */
const notes: unknown[] = []

function start(answer: Handler, { express = express5, before, after, limited = true, answersErrors }: Setup = {}) {
  const app = express() as Express
  app.set('env', 'test')
  const store = new LateStore()
  if (before) app.use(before)
  app.use(session({ secret: 'x', resave: false, saveUninitialized: false, store }))
  const sessionUser = (data: { user?: unknown }) => data.user as string | undefined
  const logger = { warn() {}, error() {} }
  const limiter = sessmgr({ settings: { maximum: 1, logic: 'block' }, sessionUser, logger })
  if (limited) app.use(limiter as never)
  if (after) app.use(after)
  app.get('/me', (req, res) => void res.json((req.session as unknown as { user?: string }).user ?? null))
  app.all('/login', (req, res, next) => {
    ;(req.session as unknown as { user?: string }).user = 'alice'
    // Express 4 does not see a rejected promise.
    Promise.resolve()
      .then(() => answer(req, res, next))
      .catch(next)
  })
  app.use((error: Error, _req: Request, res: Response, next: NextFunction) => {
    notes.push([error.message, res.headersSent])
    if (!answersErrors || res.headersSent) return next(error)
    res.status(500).json({ error: error.message })
  })
  return { app, limiter, store }
}

/** Replaces what is new in each run. */
const alike = (text: string) =>
  text
    .replace(/connect\.sid=[^;\r]+/g, 'connect.sid=<id>')
    .replace(/^(Date|ETag|Last-Modified): .*$/gim, '$1: <new>')
    .replace(/Expires=[^;\r]+/g, 'Expires=<new>')

async function ask(answer: Handler, setup: Setup, method = 'GET', headers: string[] = []): Promise<Answer> {
  notes.length = 0
  const origin = await listen(start(answer, setup).app)
  const [status, text] = await rawRequest(origin, [`${method} /login HTTP/1.1`, 'Host: a', ...headers])
  return { status, text: alike(text), notes: [...notes] }
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
  'end of a buffer, with a callback': (_req, res) => res.end(Buffer.from('in'), () => notes.push('ended')),
  'two ends': (_req, res) => {
    notes.push(res.end('first') === undefined, res.headersSent)
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
  'what finishes and closes': (_req, res) => {
    res.on('finish', () => notes.push('finish')).on('close', () => notes.push('close'))
    res.json({ in: true })
  },
}

describe.each([
  ['Express 5', express5],
  ['Express 4', express4],
])('decision 73: a held answer of %s is that of the application without sessmgr', (_name, express) => {
  test.each(Object.keys(ANSWERS))('%s', async (name) => {
    const answer = ANSWERS[name] as Handler
    for (const setup of [
      { express },
      { express, answersErrors: true },
      { express, before: compression({ threshold: 0 }) },
      { express, after: compression({ threshold: 0 }) },
    ]) {
      for (const method of ['GET', 'HEAD']) {
        const headers = ['Accept-Encoding: gzip']
        const plain = await ask(answer, { ...setup, limited: false }, method, headers)
        expect([method, setup, await ask(answer, setup, method, headers)]).toEqual([method, setup, plain])
      }
    }
  })
})
