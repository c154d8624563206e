import type { Socket } from 'node:net'
import type { HostRequest, HostResponse, Next } from '../door/host-types.ts'
import type { Visit } from '../door/request/visit.ts'
import type { SessionGuard } from '../door/session-guard.ts'
import { isRefusal, refuseLogin } from './refusal.ts'
import { endResponse } from './visit.ts'

type End = HostResponse['end']

/**
 * Holds the response of a login that only the session shows, until the login is decided and its session is saved.
 * express-session would send the headers first, so the browser could return before the session is stored, and a refused
 * login would look like a success.
 *
 * A response whose headers were sent or rendered before it ends cannot be held.
 */
export function holdLogins(visit: Visit, response: HostResponse, guard: SessionGuard): void {
  // With a named store, the response is held from the moment its session is read.
  if (visit.isHolding) return
  visit.isHolding = true
  visit.userIn = guard.userIn
  const { end } = response
  const firstId = visit.sessionID ?? ''
  let held: 'now' | 'before' | undefined
  const hold = (...given: Parameters<End>) => {
    if (held === 'now') return false
    if (held || response.headersSent || !isUnannounced(visit, guard)) return endResponse(visit, end, given)
    held = 'now'
    const release = markSent(response)
    const { socket } = response
    const cutOff = socket && visit.raw.httpVersionMajor === 1 ? delayDestroy(socket) : () => {}
    const settle = (answer: () => unknown) => {
      release()
      held = 'before'
      // A separate turn, because an error of the framework must not be taken for an error of the login.
      process.nextTick(passErrors, visit, answer, cutOff)
    }
    // If the application has saved the session itself, it has received the refusal, and this is its answer.
    const isTold = visit.refusedId !== undefined && visit.refusedId === visit.sessionID
    const decided = isTold ? putBack(visit, guard, firstId) : saveLogin(visit, guard)
    decided.then(
      () => settle(() => endResponse(visit, end, given)),
      (error: unknown) => {
        // Held until the visitor's session is back, or the application could change the answer meanwhile.
        const finish = () => settle(() => refuse(visit, response, error))
        putBack(visit, guard, firstId).then(finish, finish)
      },
    )
    return response
  }
  response.end = hold as End
}

/** Checks whether the session of a request names a user who has not logged in with it as far as sessmgr knows. */
function isUnannounced({ session, sessionID = '', sessmgr, login }: Visit, guard: SessionGuard): boolean {
  // express-session saves no session whose id is not text.
  if (!session || login || typeof sessionID !== 'string') return false
  const userId = guard.userIn(session)
  if (userId === undefined) return false
  const known = sessmgr?.session
  const isKnown = known && String(known.userId) === String(userId) && known.token === guard.tokenFor(sessionID)
  if (isKnown) return false
  return String(guard.pairOf(sessionID, session)?.userId) !== String(userId)
}

/** Decides on a login that the application has only put into the session, and saves the session. */
async function saveLogin(visit: Visit, guard: SessionGuard): Promise<void> {
  const { session, sessionID = '' } = visit.raw as HostRequest
  if (!session) return
  // express-session does the same before it writes a session, or the session would be stored for too short a time.
  session.touch?.()
  await guard.save(sessionID, session, visit)
}

/** What a response no longer allows while it is held, as after it was sent. */
const SENT: PropertyDescriptorMap = {
  headersSent: { configurable: true, get: () => true },
  flushHeaders: { configurable: true, writable: true, value() {} },
  write: { configurable: true, writable: true, value: () => false },
}
const CHANGES = {
  setHeader: 'set',
  setHeaders: 'set',
  appendHeader: 'append',
  removeHeader: 'remove',
  writeHead: 'write',
}
for (const [name, verb] of Object.entries(CHANGES)) {
  const value = () => {
    const error = new Error(`Cannot ${verb} headers after they are sent to the client`)
    throw Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' })
  }
  SENT[name] = { configurable: true, writable: true, value }
}

/** Makes a response look sent. Returns a function that restores it, as it was. */
function markSent(response: HostResponse): () => void {
  const { statusCode, statusMessage } = response
  const own = Object.getOwnPropertyDescriptors(response) as PropertyDescriptorMap
  Object.defineProperties(response, SENT)
  return () => {
    for (const name of Object.keys(SENT)) {
      const before = own[name]
      if (before) Object.defineProperty(response, name, before)
      else Reflect.deleteProperty(response, name)
    }
    Object.assign(response, { statusCode, statusMessage })
  }
}

/**
 * Delays the destruction of a connection, because Express destroys it if the application fails after its response. What
 * the browser would have received until then must still be sent. Returns a function that ends the delay.
 */
function delayDestroy(socket: Socket): () => void {
  const { destroy } = socket
  let isAsked = false
  socket.destroy = (error) => {
    const hasHungUp = error || socket.readableEnded || socket.writableEnded
    if (hasHungUp) return destroy.call(socket, error)
    isAsked = true
    return socket
  }
  return () => {
    socket.destroy = destroy
    if (isAsked) socket.destroy()
  }
}

/** Answers a login that was refused, or that failed, instead of the application. */
function refuse(visit: Visit, response: HostResponse, error: unknown): void {
  const next = nextOf(visit)
  if (response.headersSent) return next(error)
  for (const name of response.getHeaderNames()) response.removeHeader(name)
  response.statusCode = 200
  response.statusMessage = ''
  if (isRefusal(error)) refuseLogin(visit.raw as HostRequest, response, {}, error, next)
  else next(error)
}

/**
 * Restores the session that the request came with. If the application has replaced that one, the visitor gets a new one.
 *
 * @param firstId Id of the session when the request began.
 */
async function putBack(visit: Visit, guard: SessionGuard, firstId: string): Promise<void> {
  const request = visit.raw as HostRequest
  const { sessionStore: store, session, sessionID } = request
  const stored = sessionID === firstId ? await guard.calls.get(firstId).catch(() => undefined) : undefined
  if (sessionID !== firstId && visit.hasSent(firstId)) return store?.generate(request)
  // With its first id, express-session recognizes an empty session, and neither saves it nor sends its cookie.
  request.sessionID = firstId
  store?.createSession(request, stored ?? { cookie: JSON.parse(JSON.stringify(session?.cookie ?? {})) })
}

/** Returns the function that passes an error to the nearest error handler of a request. */
function nextOf(visit: Visit): Next {
  const { next: own } = visit.raw as HostRequest
  // Routers of Express set it, even those of libraries. It knows the error handlers of the route.
  const next = (typeof own === 'function' ? own : visit.next) as Next
  visit.next = undefined
  return next
}

async function passErrors(visit: Visit, answer: () => unknown, cutOff: () => void): Promise<void> {
  try {
    await answer()
  } catch (error) {
    process.nextTick(nextOf(visit), error)
  }
  cutOff()
}
