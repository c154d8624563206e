import type { FastifyReply } from 'fastify'
import type { HostResponse } from '../../door/host-types.ts'
import type { LimitLogin } from '../../door/request/visit.ts'
import { type FailureOptions, isOfPassport, isRefusal, refuseLogin } from '../../middleware/refusal.ts'
import type { FastifySessionRequest, FastifyVisit } from './fastify-visit.ts'

interface LogInOptions extends FailureOptions {
  session?: boolean
}

type LogIn = (this: FastifySessionRequest, user: unknown, options?: LogInOptions) => Promise<void>

/** Returns the visit of a request, or undefined if the request did not pass the limit. */
export type FindVisit = (request: FastifySessionRequest) => FastifyVisit | undefined

const limited = new WeakSet<LogIn>()

/**
 * Limits `request.logIn` and `request.login`, which every @fastify/passport login uses.
 *
 * Both are on the prototype of all requests, so they are replaced only once, at the first request.
 */
export function limitFastifyLogins(request: FastifySessionRequest, findVisit: FindVisit, limitLogin: LimitLogin): void {
  for (const name of ['logIn', 'login'] as const) {
    const logIn = request[name] as LogIn | undefined
    if (typeof logIn !== 'function' || limited.has(logIn)) continue
    const wrapped = limitedLogIn(logIn, findVisit, limitLogin)
    limited.add(wrapped)
    let holder: object = request
    while (!Object.hasOwn(holder, name)) holder = Object.getPrototypeOf(holder)
    Object.assign(holder, { [name]: wrapped })
  }
}

function limitedLogIn(logIn: LogIn, findVisit: FindVisit, limitLogin: LimitLogin): LogIn {
  return function (user, options) {
    const visit = findVisit(this)
    if (!visit) return logIn.call(this, user, options)
    const property = this.passport?.userProperty ?? 'user'
    const before = this[property]
    const outcome = limitLogin({
      visit,
      user,
      options,
      logIn: () => logIn.call(this, user, options),
      save: () => visit.session && visit.guard.save(visit.sessionID, visit.session, visit),
      forget: () => {
        this[property] = before
      },
    })
    if (!isOfPassport(options)) return outcome
    // passport.authenticate would report a failure and still redirect as after a success. So it is answered here, and
    // Passport waits forever.
    return new Promise((resolve) => {
      outcome.then(resolve, (error) => answerFailure(visit, options ?? {}, error))
    })
  }
}

/**
 * Answers a failed login in Passport's place. A refusal is answered like a wrong password; any other error goes to the
 * application's error handler.
 */
function answerFailure({ raw, request, session, reply }: FastifyVisit, options: FailureOptions, error: unknown): void {
  if (isRefusal(error)) {
    const refused = { headers: raw.headers, session, flash: request.flash?.bind(request) }
    refuseLogin(refused, responseOf(reply), options, error, (refused) => void reply.send(refused))
  } else {
    reply.send(error)
  }
}

/** Wraps a Fastify reply as the response that `refuseLogin` needs. */
function responseOf(reply: FastifyReply): HostResponse {
  return {
    set statusCode(code: number) {
      reply.code(code)
    },
    setHeader: (name: string, value: string) => reply.header(name, value),
    end: (text: string) => reply.send(text),
    redirect: (url: string) => reply.redirect(url),
  } as unknown as HostResponse
}
