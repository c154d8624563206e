import type { Express, NextFunction, Request, Response } from 'express'
import type { Sessmgr } from '../../src/index.ts'
import type { Gates } from './gates.ts'

declare module 'express-session' {
  interface SessionData {
    messages: string[]
    cart: string[]
    held: string
    userId: number
  }
}

/** Adds the routes for tests: a public page, a page for users, a cart for anyone, logouts, and requests that wait. */
export function addRoutes(app: Express, parts: { limiter: Sessmgr; gates: Gates; passport: boolean }): void {
  const { limiter, gates } = parts

  app.get('/', (_req, res) => void res.send('public page'))
  app.get('/login', (_req, res) => void res.send('login form'))
  app.get('/moved', (_req, res) => res.redirect('/login'))
  app.get('/me', (req, res) => {
    const id = req.user?.id ?? req.session.userId
    if (id === undefined) res.status(401).json({ code: 'not_signed_in' })
    else res.json({ id })
  })
  app.get('/state', (req, res) => void res.json(req.sessmgr ?? null))

  app.get('/cart', (req, res) => void res.json(req.session.cart ?? []))
  app.post('/cart', (req, res) => {
    req.session.cart = [...(req.session.cart ?? []), String(req.body.item)]
    res.sendStatus(204)
  })
  app.get('/messages', (req, res) => {
    res.json({ messages: req.session.messages ?? [], flash: req.flash ? req.flash() : {} })
  })

  app.get('/nonce', async (req, res) => void res.send((await limiter.nonce(req)) ?? ''))

  const done = (res: Response, next: NextFunction) => (error?: unknown) => (error ? next(error) : res.sendStatus(204))
  app.post('/logout', (req, res, next) => {
    const options = { keepSessionInfo: req.query.keep === 'session info' }
    if (parts.passport) req.logout(options, done(res, next))
    else limiter.logout(req).then(() => res.sendStatus(204), next)
  })
  app.post('/direct-logout', (req, res, next) => {
    limiter.logout(req).then(() => res.sendStatus(204), next)
  })
  app.post('/destroy', (req, res, next) => void req.session.destroy(done(res, next)))
  app.post('/regenerate', (req, res, next) => void req.session.regenerate(done(res, next)))
  app.post('/rotate', async (req, res, next) => {
    const { cookie: _, ...kept } = req.session
    if (typeof req.query.gate === 'string') await gates.at(req.query.gate).pass()
    req.session.regenerate((error) => {
      if (error) return next(error)
      Object.assign(req.session, kept, { held: 'rotated' })
      res.sendStatus(204)
    })
  })

  app.post('/unset', (req, res) => {
    Object.assign(req, { session: null })
    res.sendStatus(204)
  })

  app.post('/hold/:gate', (req, res, next) => {
    hold(req, gates).then(() => res.sendStatus(204), next)
  })
}

/**
 * A slow request. It writes to the session before it waits (`early`), afterwards (`late`), or saves it afterwards
 * (`save`).
 */
async function hold(req: Request, gates: Gates): Promise<void> {
  const gate = String(req.params.gate)
  if (req.query.write === 'early') req.session.held = gate
  await gates.at(gate).pass()
  if (req.query.write === 'late' || req.query.write === 'save') req.session.held = gate
  if (req.query.write !== 'save') return
  await new Promise<void>((resolve, reject) => {
    req.session.save((error) => (error ? reject(error) : resolve()))
  })
}
