import { RETRY_SOON, SessmgrError } from '../../ground/errors.ts'
import { type AskedLogin, type AskParts, askUser, PENDING_COOKIE } from '../../guard/ask-user.ts'
import type { Handler, HostRequest, HostResponse } from '../../guard/host-types.ts'
import { guardedRequestOf } from '../../guard/request/host-visit.ts'
import { addCookies, scopeOf } from '../../guard/request/login-cookie.ts'
import { asksForJson, sendsJson } from '../../middleware/script-request.ts'
import { pageHandler } from '../../pages/page-handler.ts'
import { refuseCrossOrigin } from '../../routes/caller.ts'
import { withParameter } from '../../routes/page-addresses.ts'
import { sendAnswer } from '../../routes/rest-answer.ts'
import { RestError } from '../../routes/rest-error.ts'
import { redirect, sendPage } from '../../routes/send-page.ts'
import { answerFailure, answerOutcome } from './answer-outcome.ts'
import { choiceInput } from './choice-input.ts'
import { ChoiceLogins } from './choice-logins.ts'
import type { ChoiceOutcome } from './choice-outcome.ts'
import type { ChoiceParts } from './choice-parts.ts'
import type { ChoiceView } from './choice-view.ts'
import { ChoicePages } from './pages/choice-pages.ts'

/** The choice page, and the function that sends users to it. */
export interface Choice {
  readonly handler: Handler
  ask(login: AskedLogin): Promise<SessmgrError>
}

/** HTTP status of a page. */
const STATUS = { few: 400, changed: 409, unproved: 403, often: 429, old: 403, away: 503, spent: 503 } as const

/** Creates the choice page. */
export function createChoice(parts: ChoiceParts): Choice {
  const { options } = parts
  const pages = new ChoicePages(parts)
  const logins = new ChoiceLogins(parts)
  const textsFor = Object.assign(pages.textsFor.bind(pages), { vary: true })
  const { url, seconds, showsIp, secretInBody } = options
  const page = { url, seconds, showsIp, secretInBody }
  const asking: AskParts = { pending: logins.pending, page, textsFor }

  async function show(request: HostRequest, response: HostResponse): Promise<void> {
    parts.notePage(request)
    // After a finished login, the browser has no pending login any more.
    const isOver = guardedRequestOf(request).sessmgr?.session && cookieOf(request) === undefined
    if (isOver && !isScript(request)) return redirect(request, response, options.successRedirect)
    await answer(request, response, await logins.open(request, cookieOf(request)))
  }

  async function act(request: HostRequest, response: HostResponse): Promise<void> {
    const isJson = sendsJson(request)
    const cookie = cookieOf(request)
    const input = await choiceInput(request)
    const inBody = secretInBody && isJson && cookie === undefined ? input.pending : undefined
    // Native applications send no origin, and no browser adds the secret to a body.
    if (inBody === undefined) refuseCrossOrigin(request)
    const secret = inBody ?? cookie
    if (secret === undefined) return answer(request, response, { kind: 'expired' })
    if (!isJson) {
      const login = await logins.pending.read(secret)
      if (!login) return answer(request, response, { kind: 'expired' })
      if (!(await pages.isFromPage(input.fields.proof, { secret, login }))) {
        return answer(request, response, { kind: 'old' })
      }
    }
    await answer(request, response, await logins.choose({ request, response }, secret, input))
  }

  async function answer(request: HostRequest, response: HostResponse, outcome: ChoiceOutcome): Promise<void> {
    const { kind } = outcome
    // The application's code may have sent a response itself.
    if (response.headersSent) return
    const guarded = guardedRequestOf(request)
    if (kind === 'signed_in' && cookieOf(request) !== undefined)
      addCookies(response, PENDING_COOKIE.remove(scopeOf(guarded)))
    if (isScript(request)) {
      const ask = (login: AskedLogin) => askUser(asking, login)
      return sendAnswer(response, await answerOutcome(outcome, { ask, request: guarded, say: textsFor(request).say }))
    }
    await answerPage(request, response, outcome)
  }

  async function answerPage(request: HostRequest, response: HostResponse, outcome: ChoiceOutcome): Promise<void> {
    const { kind } = outcome
    if (kind === 'open') {
      const status = outcome.problem === undefined ? 200 : STATUS[outcome.problem]
      return send(request, response, status, await pages.choice(request, outcome))
    }
    if (kind === 'often') return send(request, response, STATUS.often, pages.end(request, kind, outcome.until))
    if (kind === 'old' || kind === 'spent') return send(request, response, STATUS[kind], pages.end(request, kind))
    if (kind === 'signed_in') return redirect(request, response, outcome.target)
    if (kind === 'cancelled') return redirect(request, response, options.loginUrl)
    const reason = kind === 'blocked' ? kind : request.headers.cookie === undefined ? 'cookies' : 'expired'
    const { say } = pages.textsFor(request)
    const sentence = say(reason === 'blocked' ? 'login_blocked' : `choice_${reason}`)
    redirect(request, response, withParameter(options.loginUrl, 'choice', reason), sentence)
  }

  async function fail(request: HostRequest, response: HostResponse, error: unknown): Promise<void> {
    const isAway = error instanceof SessmgrError && error.status === 503
    const isRefused = error instanceof RestError
    if (response.headersSent || !(isAway || isRefused)) throw error
    if (isScript(request)) return sendAnswer(response, answerFailure(error, pages.textsFor(request)))
    await send(request, response, isAway ? 503 : error.status, pages.end(request, isAway ? 'away' : 'old'))
  }

  async function send(request: HostRequest, response: HostResponse, status: number, view: ChoiceView): Promise<void> {
    const document = await pages.document(view)
    if (status === 503) response.setHeader('Retry-After', RETRY_SOON['Retry-After'])
    const isOwnPolicy = options.render && response.hasHeader('Content-Security-Policy')
    if (!isOwnPolicy) response.setHeader('Content-Security-Policy', pages.policy())
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
    sendPage(request, response, status, document)
  }

  return { handler: pageHandler({ show, act, fail }), ask: (login) => askUser(asking, login) }
}

/** Checks whether a request gets JSON. A form gets a page, whatever else its sender accepts. */
function isScript(request: HostRequest): boolean {
  return request.method === 'POST' ? sendsJson(request) : asksForJson(request)
}

/** Returns the secret in the cookie of a request. */
function cookieOf(request: HostRequest): string | undefined {
  return PENDING_COOKIE.read(request.headers.cookie, scopeOf(guardedRequestOf(request)))
}
