import { randomUUID } from 'node:crypto'
import { getIronSession } from 'iron-session'
import { cookies } from 'next/headers'
import { type Sessmgr, sessmgr } from 'sessmgr'
import { fetchCalls } from 'sessmgr/fetch'

const HOURS = 12
const options = {
  cookieName: 'session',
  password: process.env.SESSION_PASSWORD ?? 'change this to 32 or more characters',
  ttl: HOURS * 3600,
  cookieOptions: { secure: process.env.NODE_ENV === 'production' && !process.env.PLAIN_HTTP },
}

/** What the cookie holds. */
interface Session {
  userId?: string
  sessionId?: string
}

// Next.js runs a module more than once, but the limit needs one limiter. With several processes, set `store` as well.
declare global {
  var sessionLimiter: Sessmgr | undefined
}
globalThis.sessionLimiter ??= sessmgr({ settings: { maximum: 2, logic: 'logout_oldest' } })
export const limiter = globalThis.sessionLimiter

// The sessions are in their cookies alone, so there is nothing to look up or destroy.
const calls = fetchCalls(limiter, { exists: () => true, destroy() {} })
const devices = calls.serve('/devices', limiter.account({ loginUrl: '/' }))

/** Returns the user of a request, or undefined if nobody is signed in or the session is over. */
export async function userOf(request: Request): Promise<string | undefined> {
  const { userId, sessionId } = await getIronSession<Session>(await cookies(), options)
  if (!userId || !sessionId) return undefined
  const { session } = await calls.check(request, { userId, sessionId })
  return session && userId
}

/** Signs a user in. Returns the sentence for the user if the limit refuses the login. */
export async function signIn(request: Request, userId: string): Promise<string | undefined> {
  await userOf(request)
  const cookie = await getIronSession<Session>(await cookies(), options)
  const sessionId = randomUUID()
  const admission = await calls.login(request, { userId }, async () => ({ sessionId, ttlMs: HOURS * 3_600_000 }))
  if (!admission.admitted) return admission.message
  Object.assign(cookie, { userId, sessionId })
  await cookie.save()
  return undefined
}

/** Signs the user of a request out. A copy of the cookie is worthless from now on. */
export async function signOut(): Promise<void> {
  const cookie = await getIronSession<Session>(await cookies(), options)
  const { userId, sessionId } = cookie
  if (userId && sessionId) await calls.logout({ userId, sessionId })
  cookie.destroy()
}

/** Serves the page where users see and end their sessions. */
export async function serveDevices(request: Request): Promise<Response> {
  await userOf(request)
  return (await devices(request)) ?? new Response('Not found', { status: 404 })
}
