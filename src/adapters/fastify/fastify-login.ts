import type { FastifyReply } from 'fastify'
import type { HostResponse } from '../../guard/host-types.ts'
import type { Admit } from '../../middleware/passport-login.ts'
import { type FailureOptions, isRefusal, loginRefused, refuseLogin } from '../../middleware/refuse-login.ts'
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
export function limitFastifyLogins(request: FastifySessionRequest, findVisit: FindVisit, admit: Admit): void {
  for (const name of ['logIn', 'login'] as const) {
    const logIn = request[name] as LogIn | undefined
    if (typeof logIn !== 'function' || limited.has(logIn)) continue
    const wrapped = limitedLogIn(logIn, findVisit, admit)
    limited.add(wrapped)
    let holder: object = request
    while (!Object.hasOwn(holder, name)) holder = Object.getPrototypeOf(holder)
    Object.assign(holder, { [name]: wrapped })
  }
}

function limitedLogIn(logIn: LogIn, findVisit: FindVisit, admit: Admit): LogIn {
  return function (user, options) {
    const visit = findVisit(this)
    if (!visit || options?.session === false) return logIn.call(this, user, options)
    const property = this.passport?.userProperty ?? 'user'
    const before = this[property]
    const establish = async () => {
      await logIn.call(this, user, options)
      await visit.saveLogin()
    }
    const carryThrough = async () => {
      const admission = await admit(visit.view, user, establish)
      if (!admission.admitted) throw loginRefused(admission.message)
    }
    const outcome = carryThrough().catch((error) => {
      this[property] = before
      throw error
    })
    // Passport tells its options with every login.
    return options ? keepFromPassport(outcome, (error) => answerFailure(visit, options, error)) : outcome
  }
}

/**
 * Keeps a failure from passport.authenticate, which hands it on and then goes on to its success redirect all the same.
 *
 * Passport gives itself away by the handler that it hangs on at once: the reject function of a promise, which is the one
 * native function without a name. What an application binds has one, and so have the methods of `console`.
 */
function keepFromPassport(outcome: Promise<void>, answer: (error: unknown) => void): Promise<void> {
  const keep = (handler: (error: unknown) => unknown) => {
    const isReject = handler.name === '' && Function.prototype.toString.call(handler).includes('[native code]')
    if (!isReject) return outcome.then(undefined, handler)
    // Never settles after a failure: the request has its answer.
    return new Promise<void>((resolve) => {
      outcome.then(resolve, answer)
    })
  }
  return Object.defineProperty(outcome, 'catch', { value: keep })
}

function answerFailure({ view, reply }: FastifyVisit, options: FailureOptions, error: unknown): void {
  if (isRefusal(error)) {
    refuseLogin(view, responseOf(reply), options, error, (refused) => void reply.send(refused))
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
