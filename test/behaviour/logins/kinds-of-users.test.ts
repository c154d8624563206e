import express, { type Express } from 'express'
import session, { MemoryStore } from 'express-session'
import { Passport } from 'passport'
import { expect, onTestFinished, test } from 'vitest'
import { type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'

/** An application with Passport, whose users are in a list that a test may change. */
async function start(users: Map<unknown, unknown>, options: SessmgrOptions = {}, serialised = 'id') {
  const logs: string[] = []
  const log = (line: string) => void logs.push(line)
  const limiter = sessmgr({
    settings: { maximum: 1, logic: 'logout_oldest' },
    logger: { warn: log, error: log },
    ...options,
  })
  onTestFinished(() => limiter.close())
  const passport = new Passport()
  passport.serializeUser((user, done) => done(null, (user as unknown as Record<string, unknown>)[serialised] ?? user))
  passport.deserializeUser((id, done) => done(null, (users.get(id) ?? false) as never))
  passport.use('header', {
    authenticate(this: { success(user: unknown): void }) {
      this.success([...users.values()][0])
    },
  } as never)
  const app = express() as Express
  app.use(session({ store: new MemoryStore(), secret: 'x', resave: false, saveUninitialized: false }))
  app.use(limiter as never, passport.session())
  app.get('/login', passport.authenticate('header'), (_req, res) => void res.sendStatus(204))
  app.get('/me', (req, res) => void res.json([req.user ?? null, req.sessmgr?.session?.userId ?? null]))
  const origin = await listen(app)
  return { limiter, logs, browser: () => new Browser(origin) }
}

test.each([['alice'], [7]])('a user of Passport that is the plain id %j is counted by it', async (id) => {
  const { limiter, browser } = await start(new Map([[id, id]]))
  const [first, second] = [browser(), browser()]
  for (const each of [first, second]) expect((await each.get('/login')).status).toBe(204)
  expect(await limiter.sessions.count(id)).toBe(1)
  expect((await first.get('/me')).json()).toEqual([null, null])
  expect((await second.get('/me')).json()).toEqual([id, id])
})

test('a user whom Passport no longer finds is not signed in for sessmgr either, at the same request', async () => {
  const users = new Map([[7, { id: 7 }]])
  const { browser } = await start(users)
  const laptop = browser()
  await laptop.get('/login')
  expect((await laptop.get('/me')).json()).toEqual([{ id: 7 }, 7])
  users.clear()
  expect((await laptop.get('/me')).json()).toEqual([null, null])
})

const USER = { id: 2, email: 'alice@example.test', claims: { sub: 'alice-2' } }

/** Logs somebody in twice, with an application that serialises something of its users, and returns what was logged. */
async function warningsWhenSerialising(serialised: keyof typeof USER, sessionUser?: SessmgrOptions['sessionUser']) {
  const { logs, browser } = await start(new Map([[2, USER]]), sessionUser && { sessionUser }, serialised)
  for (let login = 0; login < 2; login++) expect((await browser().get('/login')).status).toBe(204)
  return logs
}

test('a session that names its user otherwise than the login is told to the operator, once, with what to do', async () => {
  for (const [serialised, told] of [
    ['email', 'count for the wrong user. Set sessionUser: sessmgr({ sessionUser:'],
    ['claims', 'are not limited. Set sessionUser:'],
  ] as const) {
    const warnings = await warningsWhenSerialising(serialised)
    expect(warnings).toEqual([expect.stringContaining(told)])
    expect(warnings[0]).not.toContain('alice')
  }
  const sessionUser = ({ passport }: Record<string, unknown>) => (passport ? 2 : undefined)
  expect(await warningsWhenSerialising('id')).toEqual([])
  expect(await warningsWhenSerialising('email', sessionUser)).toEqual([])
  expect(await warningsWhenSerialising('claims', sessionUser)).toEqual([])
})
