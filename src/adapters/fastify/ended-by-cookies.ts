import type { EndedState, HostStore } from '../../guard/host-types.ts'
import type { FastifyStore } from './fastify-store.ts'
import type { FastifySessionRequest } from './fastify-types.ts'

/** @fastify/session's method that finds a session by the content of a cookie. */
export type DecryptSession = (cookie: string, request: object, done: () => void) => void

/** A session that is over, and the name of its cookie. */
export interface EndedSession {
  readonly cookie: string
  readonly sessionId: string
  readonly ended: EndedState
}

/** Uses the cookies of a request to find a session that is over. The name of the session cookie is unknown here. */
export function endedByCookies(
  request: FastifySessionRequest,
  store: FastifyStore,
  decrypt: DecryptSession,
): EndedSession | undefined {
  const { session, cookies = {} } = request
  const isSigned = session?.encryptedSessionId?.startsWith(`${session.sessionId}.`)
  for (const [cookie, value] of Object.entries(cookies)) {
    if (value === undefined) continue
    // The value may have a prefix, as in express-session.
    for (const text of [value, value.slice(value.indexOf(':') + 1)]) {
      const id = isSigned ? text.slice(0, text.lastIndexOf('.')) : unsign(text, request, store, decrypt)
      const ended = id === undefined ? undefined : store.endingOf(id)
      if (id !== undefined && ended) return { cookie, sessionId: id, ended }
    }
  }
  return undefined
}

/** Lets @fastify/session read a cookie with the application's own signer, using a temporary request. */
function unsign(
  text: string,
  request: FastifySessionRequest,
  store: FastifyStore,
  decrypt: DecryptSession,
): string | undefined {
  let asked: string | undefined
  try {
    const get: HostStore['get'] = (id, callback) => {
      asked = id
      callback(null)
    }
    store.without({ get }, () => decrypt(text, Object.create(request), () => {}))
  } catch {
    // The signer cannot read it, so it is not a session cookie.
  }
  return asked
}
