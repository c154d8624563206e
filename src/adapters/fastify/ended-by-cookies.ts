import type { HostStore, SignedOutReason } from '../../guard/host-types.ts'
import type { FastifyStore } from './fastify-store.ts'
import type { FastifySessionRequest } from './fastify-types.ts'

/** What @fastify/session finds a session by, given the text of a cookie. */
export type DecryptSession = (cookie: string, request: object, done: () => void) => void

/** A session that is over, and the name of the cookie that names it. */
export interface EndedSession {
  readonly cookie: string
  readonly reason: SignedOutReason
}

/** Finds a session that is over among those that the cookies may name. Which cookie is the session's nobody tells. */
export function endedByCookies(
  request: FastifySessionRequest,
  store: FastifyStore,
  decrypt: DecryptSession,
): EndedSession | undefined {
  const { session, cookies = {} } = request
  const isSigned = session?.encryptedSessionId?.startsWith(`${session.sessionId}.`)
  for (const [cookie, value] of Object.entries(cookies)) {
    if (value === undefined) continue
    // Perhaps behind a prefix such as that of express-session.
    for (const text of [value, value.slice(value.indexOf(':') + 1)]) {
      const id = isSigned ? text.slice(0, text.lastIndexOf('.')) : unsign(text, request, store, decrypt)
      const reason = id === undefined ? undefined : store.reasonOf(id)
      if (reason) return { cookie, reason }
    }
  }
  return undefined
}

/** Lets @fastify/session read a cookie by the application's own signer, on a request that nobody sees. */
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
    // A cookie of somebody else's, which the signer does not understand.
  }
  return asked
}
