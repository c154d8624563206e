import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { SessmgrError } from '../../ground/errors.ts'
import type { HostStore, RequestState } from '../../guard/host-types.ts'
import type { Notices } from '../../guard/notice/notices.ts'
import { changeCookies, cookiesOf, showsPage } from '../../guard/request/cookies.ts'
import { visitOf } from '../../guard/request/visit.ts'
import type { Sessmgr } from '../../service/service.ts'
import { coreOf } from '../../service/service-core.ts'
import { limitFastifyLogins } from './fastify-login.ts'
import { type FastifyStore, guardFastifyStore } from './fastify-store.ts'
import { type EndedSession, type FastifySessionRequest, FastifyVisit } from './fastify-visit.ts'

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
      return findVisit(this)?.sessmgr ?? {}
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
    visit.lost = endedByCookies(request, store, decryptSession)
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
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    const visit = findVisit(request)
    if (visit) secureCookies(reply)
    if (visit?.lost) delayRemoval(reply, visit.lost.cookie, showsPage(visit.raw, reply.statusCode))
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

/** Searches all cookies of a request for an ended session, because the name of the session cookie is unknown here. */
function endedByCookies(
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
  const { lost, reply, store } = visit
  const ended = lost && (await store.explain(lost.sessionId, lost.ended))
  await visit.judge(ended)
  if (!ended) return
  await notices.keep(visit, ended, reply.raw, () => {
    const cookies = cookiesOf(reply.raw)
    return !visit.sessmgr.session && cookies.some((cookie) => cookie.startsWith(`${lost.cookie}=`))
  })
}

/** Matches cookies that are invalid without `Secure`, which @fastify/session omits when it removes a cookie. */
const INSECURE = /^__(Host|Secure)-(?!.*;\s*Secure\s*(;|$))/i

/** Adds `Secure`, which browsers require for cookies named `__Host-…` and `__Secure-…`. */
function secureCookies(reply: FastifyReply): void {
  const cookies = cookiesOf(reply)
  if (!cookies.some((cookie) => INSECURE.test(cookie))) return
  replaceCookies(
    reply,
    cookies.map((cookie) => (INSECURE.test(cookie) ? `${cookie}; Secure` : cookie)),
  )
}

/**
 * Delays the removal of a cookie until the headers are sent. @fastify/session would remove it with any response.
 *
 * @param isPage Whether this response may remove the cookie. If not, the browser keeps the cookie.
 */
function delayRemoval(reply: FastifyReply, name: string, isPage: boolean): void {
  const { raw } = reply
  const isRemoval = (cookie: string) => cookie.startsWith(`${name}=;`)
  const cookies = cookiesOf(reply)
  const removal = cookies.find(isRemoval)
  if (removal === undefined) return
  replaceCookies(
    reply,
    cookies.filter((cookie) => !isRemoval(cookie)),
  )
  if (!isPage) return
  changeCookies(raw, () => {
    const others = cookiesOf(raw).filter((cookie) => !isRemoval(cookie))
    raw.setHeader('Set-Cookie', [...others, removal])
  })
}

function replaceCookies(reply: FastifyReply, cookies: string[]): void {
  reply.removeHeader('set-cookie')
  if (cookies.length > 0) reply.header('set-cookie', cookies)
}

const FAILURE = Symbol('sessmgr.failure')

interface FailedReply extends FastifyReply {
  [FAILURE]?: SessmgrError
}

/** Removes the message of a 500 error from the response, because it is only for the log and for developers. */
function withoutMessage(payload: string, { message }: SessmgrError): string {
  return payload.replace(JSON.stringify(message).slice(1, -1), 'Internal Server Error')
}
