import express, { type Express } from 'express'
import session from 'express-session'
import { expect, test } from 'vitest'
import { type ChoiceOptions, type Sessmgr, type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { aWarning } from '../../support/a-warning.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { TestStore } from '../../support/test-store.ts'
import { findUserById } from '../../support/users.ts'
import { BOB, CHOOSE } from './choice-host.ts'

const HOST: SessmgrOptions['host'] = {
  users: {
    findById: (id) => findUserById(Number(id)),
    findByEmail: () => undefined,
    findByLogin: () => undefined,
    summary: () => ({ id: BOB, login: 'bob', display_name: 'bob' }),
  },
  can: () => false,
}

/** Starts an application without Passport in mode `ask`, in which bob is signed in once. */
async function startFull(
  options: SessmgrOptions,
  { choice, route }: { choice: ChoiceOptions; route(app: Express, limiter: Sessmgr): void },
) {
  const warnings: string[] = []
  const logger = { warn: (line: string) => void warnings.push(line), error() {} }
  const limiter = sessmgr({ settings: { maximum: 1, logic: 'ask' }, logger, ...options })
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false, store: new TestStore() }), limiter)
  app.use(CHOOSE, limiter.choice(choice))
  route(app, limiter)
  app.use(((error, _request, response, _next) => {
    response.status(error.status ?? 500).json({ code: error.code })
  }) satisfies express.ErrorRequestHandler)
  const origin = await listen(app)
  expect((await new Browser(origin).post('/login')).status).toBe(200)
  return { limiter, warnings, browser: () => new Browser(origin) }
}

test('the page without "complete" ends nothing, and the log says what it needs', async () => {
  const { limiter, warnings, browser } = await startFull(
    { host: HOST },
    {
      choice: {},
      route: (app, limiter) =>
        app.post('/login', async (request, response) => {
          await limiter.login(request, { id: BOB })
          Object.assign(request.session, { userId: BOB })
          response.json({})
        }),
    },
  )
  for (const phone of [browser(), browser()]) {
    expect((await phone.post('/login')).json()).toEqual({ code: 'login_limit_reached' })
    expect(phone.cookies.has('sessmgr_pending')).toBe(false)
  }
  const asked = warnings.filter((line) => line.includes('instead of letting the user choose'))
  expect(asked).toEqual([
    aWarning('nobody-can-be-asked', /Pass limiter\.choice\(\) a `complete` that calls limiter\.login\(/),
  ])
  expect(await limiter.sessions.count(BOB)).toBe(1)
})

test('a login that is seen only in its session is refused, and the log names the calls that mode ask needs', async () => {
  const { limiter, warnings, browser } = await startFull(
    { sessionUser: (data) => data.userId as number | undefined },
    {
      choice: { complete: () => {} },
      route: (app) =>
        app.post('/login', (request, response, next) => {
          Object.assign(request.session, { userId: BOB })
          request.session.save((error) => (error ? next(error) : response.json({})))
        }),
    },
  )
  expect((await browser().post('/login')).json()).toEqual({ code: 'login_limit_reached' })
  const asked = warnings.filter((line) => line.includes('instead of letting the user choose'))
  expect(asked).toEqual([expect.stringContaining('Log users in with Passport or limiter.login(request, user)')])
  expect(asked[0]).not.toContain('Mount limiter.choice()')
  expect(await limiter.sessions.count(BOB)).toBe(1)
})
