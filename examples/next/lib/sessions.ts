import { randomUUID } from 'node:crypto'
import { getIronSession } from 'iron-session'
import { cookies } from 'next/headers'
import { type Sessmgr, sessmgr } from 'sessmgr'
import { errorResponse, fetchCalls } from 'sessmgr/fetch'

const HOURS = 12
const options = {
  cookieName: 'session',
  password: process.env.SESSION_PASSWORD ?? 'change this to 32 or more characters',
  ttl: HOURS * 3600,
  // Browsers keep a Secure cookie only over HTTPS, or from this machine.
  cookieOptions: { secure: process.env.NODE_ENV === 'production' && !process.env.PLAIN_HTTP },
}

/** What the cookie holds. */
interface Session {
  userId?: string
  sessionId?: string
  /** When the cookie expires, in milliseconds since 1970. */
  expiresAt?: number
}

// Next.js runs a module more than once, but the limit needs one limiter. With several processes, set `store` as well.
declare global {
  var sessionLimiter: Sessmgr | undefined
}
globalThis.sessionLimiter ??= sessmgr({ settings: { maximum: 2, logic: 'logout_oldest' } })
export const limiter = globalThis.sessionLimiter

// The sessions exist only in their cookies, so there is nothing to look up or destroy.
const calls = fetchCalls(limiter, { exists: () => true, destroy() {} })
const devices = calls.serve('/devices', limiter.account({ loginUrl: '/' }))
const own = async () => getIronSession<Session>(await cookies(), options)

/** Returns the user of a request, or undefined if no one is signed in or the session has ended. */
export async function userOf(request: Request): Promise<string | undefined> {
  const { userId, sessionId, expiresAt } = await own()
  if (!userId || !sessionId || !expiresAt) return undefined
  const { session } = await calls.check(request, { userId, sessionId })
  // Records the last use at most once a minute, for the idle limit and the list of devices.
  if (session) await calls.touch({ userId, sessionId, ttlMs: Math.max(1, expiresAt - Date.now()) })
  return session && userId
}

/**
 * Turns a function into a route handler or proxy. Checks the session before anything reads the body, so that `login`
 * refuses if the session ends while a slow client sends the body. Responds with 503 during an outage.
 */
export function route(handle: (request: Request, user: string | undefined) => Promise<Response>) {
  return async (request: Request): Promise<Response> => {
    try {
      const response = await handle(request, await userOf(request))
      for (const [name, value] of calls.headers(request)) response.headers.append(name, value)
      return response
    } catch (error) {
      const response = errorResponse(error)
      if (response) return response
      throw error
    }
  }
}

/** Signs a user in. If the limit refuses the login, returns the message for the user. */
export async function signIn(request: Request, userId: string): Promise<string | undefined> {
  const sessionId = randomUUID()
  const ttlMs = HOURS * 3_600_000
  const admission = await calls.login(request, { userId }, async () => ({ sessionId, ttlMs }))
  if (!admission.admitted) return admission.message
  const cookie = await own()
  Object.assign(cookie, { userId, sessionId, expiresAt: Date.now() + ttlMs })
  await cookie.save()
  return undefined
}

/** Signs out the user of a request. Copies of the cookie no longer work after that. */
export async function signOut(request: Request): Promise<void> {
  const cookie = await own()
  const { userId, sessionId } = cookie
  if (userId && sessionId) await calls.logout({ userId, sessionId, request })
  cookie.destroy()
}

/** Serves the page where users see and end their sessions. */
export async function serveDevices(request: Request): Promise<Response> {
  return (await devices(request)) ?? new Response('Not found', { status: 404 })
}
