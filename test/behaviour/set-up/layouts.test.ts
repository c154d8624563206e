import express, { type Express, Router } from 'express'
import supertest from 'supertest'
import { describe, expect, it } from 'vitest'
import { type Parts, parts } from '../../support/password-free-app.ts'

/** Signs alice in from three browsers, one after the other, and tells who is signed in then. */
async function threeBrowsers(app: Express): Promise<number[]> {
  const browsers = [supertest.agent(app), supertest.agent(app), supertest.agent(app)]
  for (const browser of browsers) await browser.post('/login').expect(204)
  return Promise.all(browsers.map(async (browser) => (await browser.get('/me')).status))
}

/** Ways to lay out an application with a sub-application. Each gets its parts and returns what listens. */
const layouts: Record<string, (made: Parts) => Express> = {
  'everything in one application': ({ app, session, limiter, passportSession, login, me }) =>
    app.use(session, limiter, passportSession).post('/login', login).get('/me', me),
  'logins in a sub-application behind a router': ({ app, session, limiter, passportSession, login, me }) => {
    const sub = express().post('/login', login).get('/me', me)
    return app.use(session, limiter, passportSession).use(Router().use(sub))
  },
  'Passport in a sub-application behind a router': ({ app, session, limiter, passportSession, login, me }) => {
    const sub = express().use(passportSession).post('/login', login).get('/me', me)
    return app.use(session, limiter).use(Router().use(sub))
  },
  'all of authentication in a sub-application that lets requests through': (made) => {
    const sub = express().use(made.session, made.limiter, made.passportSession)
    return made.app.use(Router().use(sub)).post('/login', made.login).get('/me', made.me)
  },
  'a sub-application that is called as a function': ({ app, session, limiter, passportSession, login, me }) => {
    const sub = express().use(passportSession).post('/login', login).get('/me', me)
    return app.use(session, limiter).use((req, res, next) => void sub(req, res, next))
  },
}

describe.each(Object.keys(layouts))('rule 5: the limit holds with %s', (name) => {
  it('and signs out all but the last browser at maximum 1', async () => {
    const made = parts()
    const app = layouts[name]?.(made) as Express
    expect(await threeBrowsers(app)).toEqual([401, 401, 200])
    expect(await made.limiter.sessions.count('alice')).toBe(1)
  })
})
