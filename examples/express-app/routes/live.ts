import { type Response, Router } from 'express'
import type { Sessmgr } from 'sessmgr'
import type { LiveConnections } from 'sessmgr/live'
import type { Users } from '../users.ts'

/** How often the list is sent even if no one has signed in or out in this process. */
const REFRESH_MS = 5000
const MOST_USERS = 50

/** Returns the routes of a page that shows who is signed in, updated by an event stream. */
export function liveRoutes(limiter: Sessmgr, live: LiveConnections, users: Users): Router {
  const router = Router()
  const readers = new Set<Response>()

  async function signedIn() {
    const listed = users.all.slice(0, MOST_USERS)
    const counts = await Promise.all(listed.map(({ id }) => limiter.sessions.count(id)))
    return listed.flatMap(({ displayName }, index) =>
      counts[index] ? { name: displayName, count: counts[index] } : [],
    )
  }

  async function send(to: Iterable<Response>): Promise<void> {
    const data = JSON.stringify(await signedIn())
    for (const response of to) response.write(`data: ${data}\n\n`)
  }

  const sendAll = () => void (readers.size > 0 && send(readers).catch(() => {}))
  limiter.hooks.addAction('sessmgr_session_started', 'live-page', sendAll)
  limiter.hooks.addAction('sessmgr_session_ended', 'live-page', sendAll)
  setInterval(sendAll, REFRESH_MS).unref()

  router.get('/live', (req, res) => {
    if (req.user) res.render('live', { title: 'Who is signed in' })
    else res.redirect('/login?redirect_to=/live')
  })

  router.get('/live/events', async (req, res) => {
    if (!live.stream(req, res)) return
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    readers.add(res)
    res.on('close', () => readers.delete(res))
    await send([res])
  })

  return router
}
