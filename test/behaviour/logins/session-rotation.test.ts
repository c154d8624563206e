import type express from 'express'
import type { CookieOptions } from 'express-session'
import supertest from 'supertest'
import { describe, expect, it } from 'vitest'
import { parts } from '../../support/password-free-app.ts'

/** An application that gives a signed-in user a new session id, as after a change of privileges. */
function rotatingApp(settings: { maximum?: number; logic?: string } = {}) {
  const made = parts({ settings })
  const rotate: express.RequestHandler = (req, res, next) => {
    const { passport } = req.session as unknown as { passport: unknown }
    req.session.regenerate((error) => {
      if (error) return next(error)
      Object.assign(req.session, { passport })
      req.session.save((failure) => (failure ? next(failure) : res.sendStatus(204)))
    })
  }
  const { app, session, limiter, passportSession, login, me } = made
  app.use(session, limiter, passportSession).post('/login', login).get('/me', me).post('/rotate', rotate)
  return { limiter, browser: () => supertest.agent(app) }
}

describe('a host that changes the session id of a signed-in user', () => {
  it('rule 15: stays signed in when there was a site-wide logout before the login', async () => {
    const { limiter, browser } = rotatingApp()
    await limiter.sessions.logoutAllUsers()
    const laptop = browser()
    await laptop.post('/login').expect(204)
    await laptop.post('/rotate').expect(204)
    await laptop.get('/me').expect(200)
  })
})

/** How often the store is told that a session is in use, in five requests of a signed-in user. */
async function touchesOfFiveUses(cookie: CookieOptions = {}): Promise<number> {
  const { app, store, session, limiter, passportSession, login, me } = parts({}, cookie)
  let touched = 0
  const touch = store.touch?.bind(store)
  store.touch = (id, data, callback) => {
    touched += 1
    touch?.(id, data, callback)
  }
  app.use(session, limiter, passportSession).post('/login', login).get('/me', me)
  const laptop = supertest.agent(app)
  await laptop.post('/login').expect(204)
  for (let use = 0; use < 5; use++) await laptop.get('/me').expect(200)
  return touched
}

describe('a session whose cookie has no expiry', () => {
  it('tells the store of every use, because the store alone knows how long it lasts', async () => {
    expect(await touchesOfFiveUses()).toBe(5)
  })

  it('is not written more than once a minute when the cookie has one', async () => {
    expect(await touchesOfFiveUses({ maxAge: 3_600_000 })).toBe(0)
  })
})

describe('after a logout in the same request', () => {
  it('there is no nonce any more', async () => {
    const { app, session, limiter, passportSession, login } = parts()
    app.use(session, limiter, passportSession).post('/login', login)
    app.post('/logout', (req, res, next) => {
      limiter.nonce(req).then((before) => {
        req.logout((error) => {
          if (error) return next(error)
          limiter.nonce(req).then((after) => res.json([typeof before, typeof after]), next)
        })
      }, next)
    })
    const laptop = supertest.agent(app)
    await laptop.post('/login').expect(204)
    expect((await laptop.post('/logout')).body).toEqual(['string', 'undefined'])
  })
})
