import type { FastifyReply } from 'fastify'
import type { HostResponse, LimitLogin } from '../../guard/host-types.ts'
import { viewOf } from '../../guard/request/host-visit.ts'
import { isPassportsReject } from '../../middleware/passports-own.ts'
import { type FailureOptions, isRefusal, refuseLogin } from '../../middleware/refuse-login.ts'
import type { FastifySessionRequest } from './fastify-types.ts'
import type { FastifyVisit } from './fastify-visit.ts'

interface LogInOptions extends FailureOptions {
  session?: boolean
}

type LogIn = (this: FastifySessionRequest, user: unknown, options?: LogInOptions) => Promise<void>

/** Finds what a login needs; nothing for a request that did not come by the limit. */
export type FindVisit = (request: FastifySessionRequest) => FastifyVisit | undefined

const limited = new WeakSet<LogIn>()

/**
 * Puts the limit in front of `request.logIn` and `request.login`, through which every login of @fastify/passport goes.
 *
 * They stand on the prototype of the requests, so this has something to do for the first request alone.
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
      request: visit,
      user,
      options,
      logIn: () => logIn.call(this, user, options),
      save: () => visit.session && visit.store.guard.save(visit.sessionID, visit.session, visit),
      forget: () => {
        this[property] = before
      },
    })
    // Passport tells its options with every login.
    return options ? keepFromPassport(outcome, (error) => answerFailure(visit, options, error)) : outcome
  }
}

/**
 * Keeps a failure from passport.authenticate, which hands it on and then goes on to its success redirect all the same.
 */
function keepFromPassport(outcome: Promise<void>, answer: (error: unknown) => void): Promise<void> {
  const keep = (handler: (error: unknown) => unknown) => {
    if (!isPassportsReject(handler)) return outcome.then(undefined, handler)
    // Never settles after a failure: the request has its answer.
    return new Promise<void>((resolve) => {
      outcome.then(resolve, answer)
    })
  }
  return Object.defineProperty(outcome, 'catch', { value: keep })
}

function answerFailure({ raw, reply }: FastifyVisit, options: FailureOptions, error: unknown): void {
  if (isRefusal(error)) {
    refuseLogin(viewOf(raw), responseOf(reply), options, error, (refused) => void reply.send(refused))
  } else {
    reply.send(error)
  }
}

/** Shows a reply as far as the answer to a refused login goes. */
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
