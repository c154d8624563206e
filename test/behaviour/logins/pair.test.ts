import type { Request, RequestHandler } from 'express'
import session, { MemoryStore } from 'express-session'
import supertest from 'supertest'
import { expect, test } from 'vitest'
import { memoryStore, tokenOf } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { parts } from '../../support/password-free-app.ts'

type Data = Record<string, unknown>
const dataOf = (req: Request) => req.session as unknown as Data

const seenIn = (req: Request) => ({ id: req.sessionID, keys: Object.keys(req.session) })

function start() {
  const clock = fakeClock()
  const store = new MemoryStore()
  const { sessions } = store as unknown as { sessions: Record<string, string> }
  const read = (id: string): Data | undefined => (sessions[id] ? JSON.parse(sessions[id]) : undefined)
  const sets: Data[] = []
  const { set } = store
  store.set = (id: string, data: session.SessionData, done?: (error?: unknown) => void) => {
    sets.push(data as unknown as Data)
    return set.call(store, id, data, done)
  }
  const registry = memoryStore({ clock })
  const { app, limiter, passportSession, login } = parts({ store: registry, settings: { maximum: 3, logic: 'block' } })
  const show: RequestHandler = (req, res) => void res.json(seenIn(req))
  const cookie = { maxAge: 3_600_000 }
  app.use(session({ secret: 'test', store, resave: false, saveUninitialized: false, cookie }))
  app.use(limiter, passportSession)
  app.post('/login', (req, res, next) => {
    res.sendStatus = () => res.json(seenIn(req))
    login(req, res, next)
  })
  app.post('/direct', (req, res, next) => {
    limiter.login(req, { id: 'alice' }).then(() => res.json(seenIn(req)), next)
  })
  app.get('/seen', show)
  app.post('/change', (req, res, next) => {
    dataOf(req).item = 'tea'
    show(req, res, next)
  })
  app.post('/save', (req, res, next) => {
    dataOf(req).item = 'milk'
    req.session.save((error) => (error ? next(error) : show(req, res, next)))
  })
  app.post('/own', (req, res, next) => {
    dataOf(req).passport = { user: 'alice' }
    req.session.save((error) => (error ? next(error) : show(req, res, next)))
  })
  app.post('/reload', (req, res, next) => {
    req.session.reload((error) => (error ? next(error) : show(req, res, next)))
  })
  return { browser: () => supertest.agent(app), limiter, read, sets, clock }
}

test.each(['/login', '/direct'])('a session has a pair from %s on, also in its store', async (path) => {
  const { browser, read } = start()
  const laptop = browser()
  const { id, keys } = (await laptop.post(path).expect(200)).body
  expect(keys).toContain('sessmgr')
  const pair = { userId: 'alice', token: tokenOf(id), registry: expect.any(String) }
  expect(read(id)?.sessmgr).toEqual(pair)
  for (const change of ['/reload', '/change', '/save']) {
    await laptop.post(change).expect(200)
    expect(read(id)?.sessmgr).toEqual(pair)
  }
})

test('a request that changes nothing writes nothing', async () => {
  const { browser, sets } = start()
  const laptop = browser()
  await laptop.post('/login').expect(200)
  await laptop.post('/save').expect(200)
  const written = sets.length
  for (let turn = 0; turn < 3; turn++) await laptop.get('/seen').expect(200)
  await laptop.post('/reload').expect(200)
  expect(sets.length).toBe(written)
})

test.each(['/login', '/direct'])(
  '%s is confirmed by its response, also in a session of the same user',
  async (path) => {
    const { browser, limiter, clock } = start()
    const laptop = browser()
    for (let turn = 0; turn < 2; turn++) {
      await laptop.post(path).expect(200)
      clock.advance(180_000)
      expect(await limiter.sessions.count('alice')).toBe(1)
    }
  },
)

test('a save of a login that sessmgr has not seen is not repeated', async () => {
  const { browser, limiter, read, sets } = start()
  const laptop = browser()
  const { body } = await laptop.post('/own').expect(200)
  expect(sets.length).toBe(1)
  expect(read(body.id)?.sessmgr).toMatchObject({ userId: 'alice', token: tokenOf(body.id) })
  await laptop.get('/seen').expect(200)
  expect(sets.length).toBe(1)
  expect(await limiter.sessions.count('alice')).toBe(1)
})
