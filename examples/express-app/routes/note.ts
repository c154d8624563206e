import { setTimeout as sleep } from 'node:timers/promises'
import { Router } from 'express'

const LONGEST_DELAY_MS = 1000

/** Returns the route that stores a note in the session, after a delay on request, for tests of concurrent requests. */
export function noteRoutes(): Router {
  const router = Router()
  router.post('/note', async (req, res) => {
    const { text } = (req.body ?? {}) as { text?: unknown }
    if (typeof text !== 'string') throw Object.assign(new Error('Send the field "text" of a form.'), { status: 400 })
    const delay = Math.min(Math.max(Number(req.query.delay) || 0, 0), LONGEST_DELAY_MS)
    await sleep(delay)
    req.session.note = text
    res.sendStatus(204)
  })
  return router
}

declare module 'express-session' {
  interface SessionData {
    note: string
  }
}
