import express, { type RequestHandler } from 'express'
import session from 'express-session'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLazyComments } from '../../../src/comments.ts'
import { sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

const posts = { find: () => undefined, id: () => 1, url: () => '/', isPublic: () => true, countComments: () => 1 }
const theme = { renderComments: () => '' }

function makeLimiter() {
  const limiter = sessmgr({ host: restHostOf(createRestUsers()), logger: { warn() {}, error() {} } })
  onTestFinished(() => limiter.close())
  return limiter
}

/** Mounts what stands where a middleware belongs, and tells what the application's error handler got. */
async function mounted(handler: unknown) {
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }))
  app.use(handler as RequestHandler)
  const show: express.ErrorRequestHandler = ({ code, message, status }, _req, res, _next) => {
    res.status(status ?? 500).json({ code, message })
  }
  app.use(show)
  return (await new Browser(await listen(app)).get('/')).json()
}

describe('what makes a middleware, mounted in place of the middleware, says what to write', () => {
  test.each<[string, () => unknown]>([
    ['sessmgr()', () => sessmgr],
    ['limiter.router()', () => makeLimiter().router],
    ['limiter.admin()', () => makeLimiter().admin],
    ['createLazyComments({ host })', () => createLazyComments],
    ['comments.router()', () => createLazyComments({ host: { posts, theme } }).router],
  ])('%s', async (call, handler) => {
    expect(await mounted(handler())).toEqual({
      code: 'invalid_option',
      message: `Write ${call}, with parentheses: the result is the middleware.`,
    })
  })

  test('and limiter.router() without a host, too', async () => {
    const limiter = sessmgr()
    onTestFinished(() => limiter.close())
    expect(await mounted(limiter.router)).toMatchObject({
      message: expect.stringMatching(/^Write limiter\.router\(\)/),
    })
  })
})
