import type { RequestHandler } from 'express'
import type { SessionData } from 'express-session'
import supertest from 'supertest'
import { describe, expect, it } from 'vitest'
import type { Sessmgr } from '../../../src/index.ts'
import { createGate, type Gate } from '../../support/gates.ts'
import { parts } from '../../support/password-free-app.ts'

type Data = Record<string, unknown>
/** How the user comes into the session, and whether sessmgr was told how to read it there. */
type Way = 'passport' | 'limiter' | 'limiter, readable'

/** An application that empties its session but for the user: what sessmgr keeps in it goes too. */
function emptyingApp(way: Way, settings: { maximum?: number; logic?: string }) {
  const sessionUser = way === 'limiter, readable' ? (data: Data) => data.own as string | undefined : undefined
  const made = parts({ settings, sessionUser })
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
    if (!req.query.after) await gate.pass()
    const { passport, own } = dataOf(req)
    req.session.regenerate(async (error) => {
      if (error) return next(error)
      if (req.query.after) await gate.pass()
      Object.assign(req.session, passport ? { passport } : { own })
      res.sendStatus(204)
    })
  }
  app.use(session, limiter, passportSession)
  app.post('/login', way === 'passport' ? login : directLogin)
  app.post('/empty', empty).post('/exchange', exchange)
  app.post('/leave', async (req, res) => {
    if (req.query.slowly) await gate.pass()
    const data = dataOf(req)
    for (const key of Object.keys(data)) if (key !== 'cookie') delete data[key]
    data.notice = 'Signed out.'
    res.sendStatus(204)
  })
  app.post('/become-bob', (req, res) => {
    if (way === 'passport') dataOf(req).passport = { user: 'bob' }
    else dataOf(req).own = 'bob'
    res.sendStatus(204)
  })
  app.get('/seen', async (req, res) => {
    res.json({ userId: req.sessmgr?.session?.userId ?? null, hasNonce: (await limiter.nonce(req)) !== undefined })
  })
  app.get('/user', (req, res) => void res.json(userOf(dataOf(req)) ?? null))
  const browser = () => supertest.agent(app)
  const kept = () =>
    Object.values((made.store as unknown as { sessions: Record<string, string> }).sessions)
      .map((text) => JSON.parse(text) as SessionData & Data)
      .filter((data) => userOf(data) !== undefined)
  return { ...made, gate, browser, kept }
}

/** Ends alice's sessions while a request of hers waits at the gate, and lets it go on. */
async function endDuring(
  request: supertest.Test,
  limiter: Sessmgr,
  gate: Gate,
  { status: expected = 204, end = (): unknown => limiter.sessions.endAll('alice') } = {},
) {
  const held = request.then(({ status }) => status)
  await gate.arrived
  await end()
  gate.open()
  expect(await held).toBe(expected)
}

describe.each<Way>(['passport', 'limiter', 'limiter, readable'])(
  'a session that the application empties, signed in by %s',
  (way) => {
    it('keeps its slot, and its user, until a site-wide logout', async () => {
      const { browser, limiter, kept } = emptyingApp(way, { maximum: 1, logic: 'block' })
      const laptop = browser()
      await laptop.post('/login').expect(204)
      for (let turn = 0; turn < 2; turn++) await laptop.post('/empty').expect(204)
      await laptop.get('/user').expect(200, '"alice"')
      expect(await limiter.sessions.count('alice')).toBe(1)
      await browser().post('/login').expect(403)
      await limiter.sessions.logoutAllUsers()
      await laptop.get('/user').expect('null')
      expect(kept()).toEqual([])
    })

    it.each(['/empty?slowly=1', '/exchange'])('does not come back by %s when it has ended meanwhile', async (path) => {
      const { browser, limiter, gate, kept } = emptyingApp(way, { maximum: 1, logic: 'logout_oldest' })
      const laptop = browser()
      await laptop.post('/login').expect(204)
      await endDuring(laptop.post(path), limiter, gate)
      expect(kept()).toEqual([])
      await laptop.get('/user').expect('null')
      expect(await limiter.sessions.count('alice')).toBe(0)
    })
  },
)

describe.each<Way>(['passport', 'limiter, readable'])('rule 46: an id exchanged by %s', (way) => {
  it.each(['endAll', 'logoutAllUsers'] as const)('is refused when %s came before it was saved', async (call) => {
    const { browser, limiter, gate, kept } = emptyingApp(way, { maximum: 1, logic: 'logout_oldest' })
    const laptop = browser()
    await laptop.post('/login').expect(204)
    const end = () => (call === 'endAll' ? limiter.sessions.endAll('alice') : limiter.sessions.logoutAllUsers())
    await endDuring(laptop.post('/exchange?after=1'), limiter, gate, { status: 401, end })
    expect(kept()).toEqual([])
    await laptop.get('/user').expect('null')
    expect(await limiter.sessions.count('alice')).toBe(0)
    await laptop.post('/login').expect(204)
  })

  it('goes on when another session of the user has ended meanwhile', async () => {
    const { browser, limiter, gate } = emptyingApp(way, { maximum: 2, logic: 'block' })
    const [laptop, phone] = [browser(), browser()]
    await laptop.post('/login').expect(204)
    await phone.post('/login').expect(204)
    const end = async () => {
      const [first] = await limiter.sessions.list('alice')
      await limiter.sessions.end('alice', first?.token as never)
    }
    await endDuring(laptop.post('/exchange?after=1'), limiter, gate, { end })
    await laptop.get('/user').expect('"alice"')
    expect(await limiter.sessions.count('alice')).toBe(1)
  })
})

describe.each<Way>(['passport', 'limiter, readable'])(
  'a session whose user the application takes out, signed in by %s',
  (way) => {
    it('is over as a login, and goes on as that of whoever the application puts in', async () => {
      const { browser, limiter } = emptyingApp(way, { maximum: 1, logic: 'block' })
      const laptop = browser()
      await laptop.post('/login').expect(204)
      await laptop.post('/leave').expect(204)
      await laptop.get('/seen').expect({ userId: null, hasNonce: false })
      expect(await limiter.sessions.count('alice')).toBe(0)
      await browser().post('/login').expect(204)
      await laptop.post('/become-bob').expect(204)
      await laptop.get('/seen').expect({ userId: 'bob', hasNonce: true })
      expect([await limiter.sessions.count('alice'), await limiter.sessions.count('bob')]).toEqual([1, 1])
    })

    it('stays away when it has ended meanwhile', async () => {
      const { browser, limiter, gate, kept } = emptyingApp(way, { maximum: 1 })
      const laptop = browser()
      await laptop.post('/login').expect(204)
      await endDuring(laptop.post('/leave?slowly=1'), limiter, gate)
      expect(kept()).toEqual([])
      await laptop.get('/seen').expect({ userId: null, hasNonce: false })
    })
  },
)
