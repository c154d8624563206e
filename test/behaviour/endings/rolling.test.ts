import express, { type Express } from 'express'
import session, { MemoryStore } from 'express-session'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { Browser } from '../../support/browser.ts'

import { listen } from '../../support/listen.ts'

const LIFE_MS = 600_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }))
afterEach(() => void vi.useRealTimers())

async function start(rolling: boolean) {
  const clock = fakeClock(Date.now())
  const store = new MemoryStore()
  const limiter = sessmgr({ store: memoryStore({ clock }), sessionUser: ({ user }) => user as string | undefined })
  onTestFinished(() => limiter.close())
  const app = express() as Express
  app.use(
    session({ store, secret: 'x', resave: false, saveUninitialized: false, rolling, cookie: { maxAge: LIFE_MS } }),
    limiter as never,
  )
  app.get('/login', (req, res) => {
    Object.assign(req.session, { user: 'alice' })
    res.sendStatus(204)
  })
  app.get('/me', (req, res) => void res.json((req.session as unknown as { user?: string }).user ?? null))
  const browser = new Browser(await listen(app))
  const wait = (ms: number) => {
    vi.advanceTimersByTime(ms)
    clock.advance(ms)
  }
  return { browser, limiter, wait }
}

test('a session whose cookie is sent again with each response lives as long as the last of them', async () => {
  const { browser, limiter, wait } = await start(true)
  await browser.get('/login')
  // The second of these uses is too early to be recorded again, but its response extends the cookie.
  for (let use = 0; use < 6; use++) {
    wait(LIFE_MS / 20)
    expect((await browser.get('/me')).json()).toBe('alice')
  }
  wait(LIFE_MS * 0.93)
  expect((await browser.get('/me')).json()).toBe('alice')
  wait(LIFE_MS * 0.99)
  expect([(await browser.get('/me')).json(), await limiter.sessions.count('alice')]).toEqual(['alice', 1])
  wait(LIFE_MS * 1.2)
  expect([(await browser.get('/me')).json(), await limiter.sessions.count('alice')]).toEqual([null, 0])
})

test('a session whose cookie is not sent again keeps its exact lifetime', async () => {
  const { browser, limiter, wait } = await start(false)
  await browser.get('/login')
  for (let use = 0; use < 3; use++) {
    wait(LIFE_MS / 20)
    expect((await browser.get('/me')).json()).toBe('alice')
  }
  const [{ expiresAt, lastSeenAt } = { expiresAt: 0, lastSeenAt: 0 }] = await limiter.sessions.list('alice')
  expect(expiresAt - lastSeenAt).toBe(LIFE_MS)
})
