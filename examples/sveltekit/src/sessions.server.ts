import type { RequestEvent } from '@sveltejs/kit'
import { sessmgr } from 'sessmgr'
import { fetchCalls } from 'sessmgr/fetch'

const ttlMs = 60 * 60 * 1000
const sessions = new Map<string, string>() // use a session store that outlives the process
// Vite runs a module again when it changes, but the limit needs one limiter.
globalThis.sessionLimiter ??= sessmgr({ settings: { maximum: 2, logic: 'logout_oldest' } })
const limiter = globalThis.sessionLimiter
const calls = fetchCalls(limiter, { exists: (id) => sessions.has(id), destroy: (id) => sessions.delete(id) })

/** Serves the page where users see and end their sessions. */
export const devices = calls.serve('/devices', limiter.account({ loginUrl: '/' }))

/** Returns the user of a request, or undefined if no one is signed in or the session has ended. */
export async function userOf({ request, cookies }: RequestEvent): Promise<string | undefined> {
  const sessionId = cookies.get('sid')
  if (!sessionId) return undefined
  const userId = sessions.get(sessionId)
  const state = userId ? await calls.check(request, { userId, sessionId }) : await calls.missing(request, { sessionId })
  if (!userId || !state.session) {
    cookies.delete('sid', { path: '/' })
    return undefined
  }
  await calls.touch({ userId, sessionId, ttlMs })
  return userId
}

/** Signs a user in. If the limit refuses the login, returns the message for the user. */
export async function signIn({ request, cookies }: RequestEvent, userId: string): Promise<string | undefined> {
  const sessionId = crypto.randomUUID()
  const admission = await calls.login(request, { userId }, async () => {
    sessions.set(sessionId, userId)
    return { sessionId, ttlMs }
  })
  if (!admission.admitted) return admission.message
  cookies.set('sid', sessionId, { path: '/' })
  return undefined
}

/** Returns the cookies that the response still has to set, such as the notice for a signed-out user. */
export const cookiesFor = (request: Request) => calls.headers(request).getSetCookie()
