import express5 from 'express'
import session from 'express-session'
import express4 from 'express4'
import { expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { TestStore } from '../../support/test-store.ts'

/** A signed cookie whose session is over, on an application that answers in each way a handler can. */
async function deadCookie(express: typeof express5) {
  const host = {
    users: {
      findById: () => null,
      findByEmail: () => null,
      findByLogin: () => null,
      summary: () => ({ id: 1 }) as never,
    },
    can: () => false,
  }
  const limiter = sessmgr({ host })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ store: new TestStore(), secret: 'test', resave: false, saveUninitialized: false }))
  app.use(limiter)
  app.use('/api', limiter.router())
  app.post('/login', (req, res, next) => {
    limiter.login(req, { id: 2 }).then(() => res.sendStatus(204), next)
  })
  app.get('/at-once', (_req, res) => void res.send('page'))
  app.get('/later', (_req, res) => void setTimeout(() => res.send('page')))
  const origin = await listen(app)
  const laptop = new Browser(origin)
  await laptop.post('/login')
  const { value = '' } = laptop.cookies.get('connect.sid') ?? {}
  await limiter.sessions.endAll(2)
  return { origin, cookie: `connect.sid=${value}`, id: laptop.sessionId() }
}

const names = ['a b', 'ü', '', '"', 'a\x80b', '\xff', '__proto__', 'a=b', ',', 'constructor']
const pages: [string, number][] = [
  ['/at-once', 200],
  ['/later', 200],
  ['/nowhere', 404],
  ['/api/sessmgr/v1/settings', 401],
]

test.each([
  ['Express 4', express4],
  ['Express 5', express5],
] as const)(
  'under %s, a cookie of whatever name beside that of an ended session leaves each answer as it is',
  async (_name, express) => {
    const { origin, cookie, id } = await deadCookie(express)
    for (const [path, status] of pages) {
      for (const name of names) {
        const head = [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Cookie: ${name}=s:${id}.x; ${cookie}`]
        const [answered, text] = await rawRequest(origin, head)
        expect([path, name, answered]).toEqual([path, name, status])
        // Decision 71: the session's cookie is neither set nor cleared.
        expect(text.match(/^set-cookie: .*$/gim)).toEqual([expect.stringMatching(/: sessmgr_notice=[\da-f]{64};/)])
      }
    }
  },
)
