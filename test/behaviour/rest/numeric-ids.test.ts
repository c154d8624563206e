import express from 'express'
import session from 'express-session'
import { expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

test.each([
  ['numbers', (one: unknown, other: unknown) => one === other],
  ['strings', (one: unknown, other: unknown) => String(one) === other],
])('rule 50: an administrator is found where the application compares ids as %s', async (_kind, isSame) => {
  const logs: unknown[] = []
  const note = (line: unknown) => void logs.push(line)
  const users = createRestUsers()
  const host = restHostOf(users)
  const findById = (id: unknown) => users.find((user) => isSame(user.id, id))
  const limiter = sessmgr({
    logger: { warn: note, error: note },
    settings: { maximum: 3 },
    host: { ...host, users: { ...host.users, findById } },
  })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.use('/api', limiter.router()).use('/admin', limiter.admin())
  app.get('/in', async (req, res) => {
    await limiter.login(req, users[0])
    res.send((await limiter.nonce(req)) ?? '')
  })
  const browser = new Browser(await listen(app))
  const headers = { 'x-host-nonce': (await browser.get('/in')).text }
  const list = await browser.get('/api/sessmgr/v1/sessions?user=1', { headers })
  expect(list.json()).toMatchObject({ user: { login: 'admin' } })
  expect((await browser.get('/admin')).status).toBe(200)
  expect(logs).toEqual([])
})
