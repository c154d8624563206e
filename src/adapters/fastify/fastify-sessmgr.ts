import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { HostStore, RequestState } from '../../door/host-types.ts'
import { explainEnd } from '../../door/load.ts'
import type { Notices } from '../../door/notice/notices.ts'
import { shownStateOf, visitOf } from '../../door/request/visit.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { Sessmgr } from '../../service/service.ts'
import { coreOf } from '../../service/service-core.ts'
import { limitFastifyLogins } from './fastify-login.ts'
import { type FastifyStore, guardFastifyStore } from './fastify-store.ts'
import { type FastifySessionRequest, FastifyVisit } from './fastify-visit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** State of this request's session. */
    readonly sessmgr: RequestState
  }
}

/** Options of the `fastifySessmgr` plugin. */
export interface FastifySessmgrOptions {
  /** The limiter from `sessmgr()`. */
  readonly limiter: Sessmgr
}

/** @fastify/session's method that finds a session by the content of a cookie. */
export type DecryptSession = (cookie: string, request: object, done: () => void) => void

/**
 * Adds the session limit to a Fastify application. Register it after @fastify/session. It may come before
 * or after @fastify/passport.
 *
 * @throws SessmgrError `session_middleware_missing`, `session_middleware_unsupported` for sessions without a store and
 * before Fastify 5, or `invalid_option` if another limiter guards the store.
 * @example
 * await app.register(fastifySession, { secret, store, saveUninitialized: false })
 * await app.register(fastifySessmgr, { limiter: sessmgr({ settings: { maximum: 2 } }) })
 */
export const fastifySessmgr: FastifyPluginAsync<FastifySessmgrOptions> = async (fastify, options) => {
  const core = coreOf(options?.limiter, 'fastify.register(fastifySessmgr, { limiter })')
  requireVersion(fastify)
  requireSessions(fastify)
  void core.notices.load()
  const { sessionStore } = core.options
  if (sessionStore) guardFastifyStore(core.guards, sessionStore)
  const { decryptSession } = fastify as unknown as { decryptSession: DecryptSession }
  const findVisit = ({ raw }: { raw: object }) => visitOf(raw) as FastifyVisit | undefined

  fastify.decorateRequest('sessmgr', {
    getter(this: FastifyRequest) {
      return shownStateOf(findVisit(this)) ?? {}
    },
  })
  fastify.addHook('onRequest', (fastifyRequest, reply, done) => {
    const request = fastifyRequest as unknown as FastifySessionRequest
    if (request.session?.sessionId === undefined) return done()
    const store = guardFastifyStore(core.guards, request.sessionStore)
    const visit = new FastifyVisit(store, request, reply)
    limitFastifyLogins(request, findVisit, core.limitLogin)
    const isJudged = visit.isJudged()
    core.resumeDevice?.(visit)
    if (isJudged || visit.begunId !== undefined) return done()
    visit.endedId = endedByCookies(request, store, decryptSession)
    arrive(visit, core.notices).then(() => done(), done)
  })
  fastify.addHook('onError', (_request, reply: FailedReply, error, done) => {
    if (error instanceof SessmgrError && error.status === 500) reply[FAILURE] = error
    done()
  })
  fastify.addHook('onSend', (_request, reply: FailedReply, payload, done) => {
    const failure = reply[FAILURE]
    done(null, failure && typeof payload === 'string' ? withoutMessage(payload, failure) : payload)
  })
  fastify.addHook('onSend', (request, _reply, _payload, done) => {
    const visit = findVisit(request)
    if (visit) visit.noteUse(done)
    else done()
  })
}

// fastify-plugin sets the same symbols. Without them, the decorator and the hooks would only apply inside the plugin.
Object.assign(fastifySessmgr, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'sessmgr',
})

/**
 * Rejects Fastify 4 and older. Fastify is not a peer dependency, because an Express application may use an old version
 * for something else.
 */
function requireVersion({ version }: FastifyInstance): void {
  if (Number.parseInt(version, 10) >= 5) return
  throw new SessmgrError(
    'session_middleware_unsupported',
    `This is Fastify ${version}. sessmgr needs Fastify 5 or newer, with @fastify/session 11 or newer.`,
  )
}

function requireSessions(fastify: FastifyInstance): void {
  if (!fastify.hasRequestDecorator('session')) {
    throw new SessmgrError(
      'session_middleware_missing',
      'This application has no sessions. Register @fastify/session before sessmgr: ' +
        'await app.register(fastifySession, { secret, store, saveUninitialized: false }).',
    )
  }
  if (!fastify.hasRequestDecorator('sessionStore')) {
    throw new SessmgrError(
      'session_middleware_unsupported',
      "This application's sessions have no store, as with @fastify/secure-session. A limit needs sessions that the " +
        'server can end: register @fastify/session.',
    )
  }
}

/**
 * Returns the id of a request's ended session. Searches all cookies, because the name of the session cookie is unknown
 * here.
 */
function endedByCookies(
  request: FastifySessionRequest,
  store: FastifyStore,
  decrypt: DecryptSession,
): string | undefined {
  const { session, cookies = {} } = request
  const isSigned = session?.encryptedSessionId?.startsWith(`${session.sessionId}.`)
  for (const value of Object.values(cookies)) {
    if (value === undefined) continue
    // The value may have a prefix, as in express-session.
    for (const text of [value, value.slice(value.indexOf(':') + 1)]) {
      const id = isSigned ? text.slice(0, text.lastIndexOf('.')) : unsign(text, request, store, decrypt)
      if (id !== undefined && store.hasEnded(id)) return id
    }
  }
  return undefined
}

/**
 * Returns the session id in a cookie, or undefined if there is none. Lets @fastify/session read the cookie for a
 * temporary request, because the application may have its own signer.
 */
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
    // The signer cannot read this cookie, so it is not the session cookie.
  }
  return asked
}

/** Checks the session of a request if it was loaded before the guard was installed, or if it has ended. */
async function arrive(visit: FastifyVisit, notices: Notices): Promise<void> {
  const { sessionID, endedId } = visit
  const isOver = await visit.judge()
  const overId = isOver ? sessionID : endedId
  if (overId !== undefined) await explainEnd(visit.guard, overId, visit, notices)
}

const FAILURE = Symbol('sessmgr.failure')

interface FailedReply extends FastifyReply {
  [FAILURE]?: SessmgrError
}

/** Removes the message of a 500 error from the response, because it is only for the log and for developers. */
function withoutMessage(payload: string, { message }: SessmgrError): string {
  return payload.replace(JSON.stringify(message).slice(1, -1), 'Internal Server Error')
}
