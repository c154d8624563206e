import type { RequestHandler } from 'express'
import type { SessionData } from 'express-session'
import supertest from 'supertest'
import { describe, expect, it } from 'vitest'
import { createGate } from '../support/gates.ts'
import { parts } from '../support/password-free-app.ts'

type Data = Record<string, unknown>
type Way = 'passport' | 'limiter'

/** An application that empties its session but for the user: what sessmgr keeps in it goes too. */
function emptyingApp(way: Way, settings: { maximum?: number; logic?: string }) {
  const made = parts({ settings })
  const gate = createGate()
  const { app, session, limiter, passportSession, login } = made
  const dataOf = (req: Parameters<RequestHandler>[0]) => req.session as unknown as Data
  const userOf = ({ passport, own }: Data) => (passport as { user?: unknown } | undefined)?.user ?? own
  const directLogin: RequestHandler = async (req, res, next) => {
    try {
      await limiter.login(req, { id: 'alice' })
      dataOf(req).own = 'alice'
      res.sendStatus(204)
    } catch (error) {
      next(error)
    }
  }
  const empty: RequestHandler = async (req, res) => {
    if (req.query.slowly) await gate.pass()
    const data = dataOf(req)
    for (const key of Object.keys(data)) if (!['cookie', 'passport', 'own'].includes(key)) delete data[key]
    data.emptied = true
    res.sendStatus(204)
  }
  const exchange: RequestHandler = async (req, res, next) => {
    await gate.pass()
    const { passport, own } = dataOf(req)
    req.session.regenerate((error) => {
      if (error) return next(error)
      Object.assign(req.session, passport ? { passport } : { own })
      res.sendStatus(204)
    })
  }
  app.use(session, limiter, passportSession)
  app.post('/login', way === 'passport' ? login : directLogin)
  app.post('/empty', empty).post('/exchange', exchange)
  app.get('/user', (req, res) => void res.json(userOf(dataOf(req)) ?? null))
  const browser = () => supertest.agent(app)
  const kept = () =>
    Object.values((made.store as unknown as { sessions: Record<string, string> }).sessions)
      .map((text) => JSON.parse(text) as SessionData & Data)
      .filter((data) => userOf(data) !== undefined)
  return { ...made, gate, browser, kept }
}

const MODES = ['allow', 'logout_oldest', 'block']

describe.each<Way>(['passport', 'limiter'])('a session that the application empties, signed in by %s', (way) => {
  it.each(MODES)('keeps its slot, and its user, in mode %s', async (logic) => {
    const { browser, limiter } = emptyingApp(way, { maximum: 1, logic })
    const laptop = browser()
    await laptop.post('/login').expect(204)
    for (let turn = 0; turn < 3; turn++) await laptop.post('/empty').expect(204)
    await laptop.get('/user').expect(200, '"alice"')
    expect(await limiter.sessions.count('alice')).toBe(1)
    await browser()
      .post('/login')
      .expect(logic === 'block' ? 403 : 204)
    await laptop.get('/user').expect(logic === 'block' ? '"alice"' : 'null')
  })

  it('ends with a site-wide logout', async () => {
    const { browser, limiter, kept } = emptyingApp(way, { maximum: 1 })
    const laptop = browser()
    await laptop.post('/login').expect(204)
    await laptop.post('/empty').expect(204)
    await limiter.sessions.logoutAllUsers()
    await laptop.get('/user').expect('null')
    expect(kept()).toEqual([])
  })

  it.each(MODES)('does not come back when it has ended meanwhile, in mode %s', async (logic) => {
    const { browser, limiter, gate, kept } = emptyingApp(way, { maximum: 1, logic })
    const laptop = browser()
    await laptop.post('/login').expect(204)
    const held = laptop.post('/empty?slowly=1').then(({ status }) => status)
    await gate.arrived
    await limiter.sessions.endAll('alice')
    gate.open()
    expect(await held).toBe(204)
    expect(kept()).toEqual([])
    await laptop.get('/user').expect('null')
    expect(await limiter.sessions.count('alice')).toBe(0)
  })

  it('does not live on under another id when it has ended meanwhile', async () => {
    const { browser, limiter, gate, kept } = emptyingApp(way, { maximum: 1, logic: 'logout_oldest' })
    const laptop = browser()
    await laptop.post('/login').expect(204)
    const held = laptop.post('/exchange').then(({ status }) => status)
    await gate.arrived
    await limiter.sessions.endAll('alice')
    gate.open()
    expect(await held).toBe(204)
    expect(kept()).toEqual([])
    await laptop.get('/user').expect('null')
  })
})
