import express from 'express'
import session, { MemoryStore } from 'express-session'
import { expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { HttpLoad } from '../../support/http-load.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { listen } from '../../support/listen.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

const VISITS = 1100
const PAGES = [
  '/devices',
  '/devices?confirm',
  '/admin',
  '/admin/sessions?user=alice',
  '/login/choose',
  '/api/sessmgr/v1/settings',
  '/api/sessmgr/v1/me/sessions',
  '/api/sessmgr/v1/me/notice',
  '/api/lazycomments/v1/comments?post_id=1',
  '/posts/1',
  '/login',
]

test('decision 86: 1,100 anonymous requests over all pages leave no key in the session store', async () => {
  const store = new MemoryStore()
  const post = { id: 1 }
  const limiter = sessmgr({
    sessionStore: store,
    settings: { logic: 'ask' },
    logger: { warn() {}, error() {} },
    host: {
      ...restHostOf(createRestUsers()),
      posts: {
        find: (id) => (id === 1 ? post : undefined),
        id: () => 1,
        url: () => '/posts/1',
        isPublic: () => true,
        countComments: () => 3,
      },
      theme: { renderComments: () => 'Comments.' },
    },
  })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.use('/api', limiter.router())
  app.use('/devices', limiter.account())
  app.use('/admin', limiter.admin())
  app.use('/login/choose', limiter.choice({ complete: () => {} }))
  app.get('/login', async (req, res) => void res.send((await limiter.notice(req, res))?.text ?? 'Sign in'))
  app.get('/posts/1', async (req, res) => void res.send(await limiter.comments?.render(req, post)))
  const origin = await listen(app)
  const load = new HttpLoad(20)
  onTestFinished(() => load.close())

  const cookies = await inParallel(VISITS, 20, async (index) => {
    const { status, headers } = await load.send(origin, PAGES[index % PAGES.length] as string, {
      method: index % 7 === 0 ? 'POST' : 'GET',
    })
    expect(status).toBeLessThan(500)
    return String(headers['set-cookie'] ?? '').includes('connect.sid=s')
  })
  expect(cookies.filter(Boolean)).toEqual([])
  const sessions = await new Promise((resolve, reject) =>
    store.all?.((error, all) => (error ? reject(error) : resolve(all))),
  )
  expect(sessions).toEqual({})
})
