import { createHash } from 'node:crypto'
import type { SessmgrError } from '../../ground/errors.ts'
import { type AskedLogin, type AskParts, askUser, PENDING_COOKIE } from '../../guard/ask-user.ts'
import type { Handler, HostRequest, HostResponse } from '../../guard/host-types.ts'
import { guardedRequestOf } from '../../guard/request/host-visit.ts'
import { addCookies, scopeOf } from '../../guard/request/login-cookie.ts'
import { asksForJson, sendsJson } from '../../middleware/script-request.ts'
import { secondsUntil } from '../../pages/guesses.ts'
import { tooOften } from '../../pages/markup.ts'
import { type PageAnswer, type PageCall, type PageDefinition, page } from '../../pages/page.ts'
import type { RestError } from '../../routes/answer.ts'
import { refuseCrossOrigin } from '../../routes/caller.ts'
import { withParameter } from '../../routes/page-addresses.ts'
import { answerFailure, answerOutcome } from './answer-outcome.ts'
import { choiceInput } from './choice-input.ts'
import { ChoiceLogins, type ChoiceOutcome, type ChoiceParts, type OpenChoice } from './choice-logins.ts'
import type { ChoiceView } from './choice-view.ts'
import { describeChoice, drawChoice, drawEnd, drawRoom } from './draw-choice.ts'
import { OWN_FIELDS } from './resolve-choice-options.ts'

/** The choice page, and the function that sends users to it. */
export interface Choice {
  readonly handler: Handler
  ask(login: AskedLogin): Promise<SessmgrError>
}

/** Creates the choice page. */
export function createChoice(parts: ChoiceParts): Choice {
  const logins = new ChoiceLogins(parts)
  const ask = (login: AskedLogin) => askUser(asking, login)
  const { handler, textsFor } = page(new ChoicePage(parts, logins, ask))
  const { url, seconds, showsIp, secretInBody } = parts.options
  const asking: AskParts = { pending: logins.pending, page: { url, seconds, showsIp, secretInBody }, textsFor }
  return { handler, ask }
}

/** HTTP status of a page. */
const STATUS = { few: 400, changed: 409, unproved: 403, guessed: 429, often: 429, old: 403, spent: 503 } as const

/** The page where users at the limit choose which sessions to end. */
class ChoicePage implements PageDefinition {
  readonly name = 'choice'
  readonly headers = { 'Cross-Origin-Opener-Policy': 'same-origin' }
  readonly ownFields: readonly string[]
  readonly targets: readonly string[]
  readonly parts: ChoiceParts
  readonly #logins: ChoiceLogins
  readonly #ask: Choice['ask']

  constructor(parts: ChoiceParts, logins: ChoiceLogins, ask: Choice['ask']) {
    const { field, loginUrl, successRedirect } = parts.options
    this.parts = parts
    this.ownFields = [...OWN_FIELDS, field.name]
    this.targets = [loginUrl, successRedirect]
    this.#logins = logins
    this.#ask = ask
  }

  async view(call: PageCall, response: HostResponse): Promise<PageAnswer> {
    const { request } = call
    const cookie = cookieOf(request)
    // After a finished login, the browser has no pending login any more.
    const isOver = guardedRequestOf(request).sessmgr?.session && cookie === undefined
    if (isOver && !isScript(request)) return { to: this.parts.options.successRedirect }
    return this.#answer(call, response, await this.#logins.open(request, cookie))
  }

  async act(call: PageCall, response: HostResponse): Promise<PageAnswer> {
    return this.#answer(call, response, await this.#choose(call, response))
  }

  fail(call: PageCall, kind: 'old' | 'away', error: RestError | SessmgrError) {
    return isScript(call.request) ? answerFailure(error, call.texts) : this.#end(call, kind)
  }

  async #choose(call: PageCall, response: HostResponse): Promise<ChoiceOutcome> {
    const { request } = call
    const isJson = sendsJson(request)
    const cookie = cookieOf(request)
    const input = await choiceInput(request)
    const inBody = this.parts.options.secretInBody && isJson && cookie === undefined ? input.pending : undefined
    // Native applications send no origin, and no browser adds the secret to a body.
    if (inBody === undefined) refuseCrossOrigin(request)
    const secret = inBody ?? cookie
    if (secret === undefined) return { kind: 'expired' }
    if (!isJson) {
      const login = await this.#logins.pending.read(secret)
      if (!login) return { kind: 'expired' }
      if (!(await call.isFromPage(input.fields.proof, subjectOf({ secret, login })))) return { kind: 'old' }
    }
    return this.#logins.choose({ request, response }, secret, input)
  }

  async #answer(call: PageCall, response: HostResponse, outcome: ChoiceOutcome): Promise<PageAnswer> {
    // The application's code may have sent a response itself.
    if (response.headersSent) return undefined
    const request = guardedRequestOf(call.request)
    if (outcome.kind === 'signed_in' && cookieOf(call.request) !== undefined) {
      addCookies(response, PENDING_COOKIE.remove(scopeOf(request)))
    }
    if (isScript(call.request)) return answerOutcome(outcome, { ask: this.#ask, request, say: call.say })
    return this.#pageOf(call, outcome)
  }

  async #pageOf(call: PageCall, outcome: ChoiceOutcome): Promise<PageAnswer> {
    const { kind } = outcome
    const { loginUrl } = this.parts.options
    const retry = (at: number | undefined) => ({ 'Retry-After': secondsUntil(at) })
    if (kind === 'open') {
      const { problem, retryAt } = outcome
      const headers = problem === 'guessed' ? retry(retryAt) : {}
      return { view: await this.#open(call, outcome), status: problem === undefined ? 200 : STATUS[problem], headers }
    }
    if (kind === 'often') {
      return { view: this.#end(call, kind, outcome.until), status: STATUS.often, headers: retry(outcome.until) }
    }
    if (kind === 'old' || kind === 'spent') return { view: this.#end(call, kind), status: STATUS[kind] }
    if (kind === 'signed_in') return { to: outcome.target }
    if (kind === 'cancelled') return { to: loginUrl }
    const reason = kind === 'blocked' ? kind : call.request.headers.cookie === undefined ? 'cookies' : 'expired'
    const sentence = call.say(reason === 'blocked' ? 'login_blocked' : `choice_${reason}`)
    return { to: withParameter(loginUrl, 'choice', reason), sentence }
  }

  /** Returns the page where the user chooses, or the page for a choice that is no longer needed. */
  async #open(call: PageCall, open: OpenChoice): Promise<ChoiceView> {
    const { say } = call
    const { idle_release: idle } = await this.parts.settings.get()
    const { showsIp, verify, field } = this.parts.options
    const devices = await describeChoice(open, { say, showsIp, idleMs: idle * 1000 })
    const form = await call.form(subjectOf(open))
    const { problem, retryAt } = open
    const error =
      problem === 'unproved' ? say('choice_wrong') : problem === 'guessed' ? tooOften(say, retryAt) : undefined
    const own = verify && { name: field.name, label: field.label ?? say('choice_field'), error }
    const parts = { ...form, field: own }
    if (!devices) return call.compose('room', say('choice_room_title'), drawRoom(parts, problem), form, devices)
    const title = say(devices.rows.length === 1 && devices.maximum === 1 ? 'choice_only_title' : 'choice_title')
    const heading = problem ? say('choice_error', { title }) : title
    return call.compose('choose', heading, drawChoice(parts, devices), form, devices)
  }

  /** Returns a page for a user who cannot choose. */
  #end(call: PageCall, kind: 'often' | 'old' | 'away' | 'spent', until?: number): ChoiceView {
    const title = call.say(kind === 'often' ? 'choice_often' : kind === 'old' ? 'account_old' : 'choice_away')
    const content = drawEnd(call, this.parts.options.loginUrl, kind, until)
    return call.compose(kind, title, content, undefined, undefined)
  }
}

/** Checks whether a request gets JSON. A form gets a page, whatever else its sender accepts. */
function isScript(request: HostRequest): boolean {
  return request.method === 'POST' ? sendsJson(request) : asksForJson(request)
}

/** Returns the secret in the cookie of a request. */
function cookieOf(request: HostRequest): string | undefined {
  return PENDING_COOKIE.read(request.headers.cookie, scopeOf(guardedRequestOf(request)))
}

/** A form is for one pending login. */
function subjectOf({ secret, login }: Pick<OpenChoice, 'secret' | 'login'>) {
  return { userId: login.userId, token: createHash('sha256').update(`proof ${secret}`).digest('hex') }
}
