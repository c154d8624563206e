import type express from 'express'
import type { CookieOptions } from 'express-session'
import supertest from 'supertest'
import { describe, expect, it } from 'vitest'
import { createGate } from '../../support/gates.ts'
import { parts } from '../../support/password-free-app.ts'

/** An application that gives a signed-in user a new session id, as after a change of privileges. */
function rotatingApp(settings: { maximum?: number; logic?: string } = {}) {
  const made = parts({ settings })
  const gate = createGate()
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
  app.post('/rotate-later', async (req, res, next) => {
    await gate.pass()
    rotate(req, res, next)
  })
  return { ...made, gate, browser: () => supertest.agent(app) }
}

describe('a host that changes the session id of a signed-in user', () => {
  it.each(['allow', 'logout_oldest', 'block'])('rule 5: keeps one session in one slot, in mode %s', async (logic) => {
    const { limiter, browser } = rotatingApp({ logic })
    const first = browser()
    await first.post('/login').expect(204)
    for (let turn = 0; turn < 5; turn++) await first.post('/rotate').expect(204)
    await first.get('/me').expect(200)
    expect(await limiter.sessions.count('alice')).toBe(1)
    const second = browser()
    await second.post('/login').expect(logic === 'block' ? 403 : 204)
    await first.get('/me').expect(logic === 'block' ? 200 : 401)
    expect(await limiter.sessions.count('alice')).toBe(1)
  })

  it('rule 15: stays signed in when there was a site-wide logout before the login', async () => {
    const { limiter, browser } = rotatingApp()
    await limiter.sessions.logoutAllUsers()
    const laptop = browser()
    await laptop.post('/login').expect(204)
    await laptop.post('/rotate').expect(204)
    await laptop.get('/me').expect(200)
  })

  it.each(['endAll', 'displaced', 'logoutAllUsers'] as const)('cannot carry an ended session over: %s', async (way) => {
    const { limiter, store, browser, gate } = rotatingApp()
    const laptop = browser()
    await laptop.post('/login').expect(204)
    const held = laptop.post('/rotate-later').then((answer) => answer.status)
    await gate.arrived
    if (way === 'displaced') await browser().post('/login').expect(204)
    else if (way === 'endAll') await limiter.sessions.endAll('alice')
    else await limiter.sessions.logoutAllUsers()
    gate.open()
    await held
    await laptop.get('/me').expect(401)
    expect(await limiter.sessions.count('alice')).toBe(way === 'displaced' ? 1 : 0)
    const kept = Object.keys((store as unknown as { sessions: object }).sessions)
    expect(kept).toHaveLength(way === 'displaced' ? 1 : 0)
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
