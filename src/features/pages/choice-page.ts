import { createHash } from 'node:crypto'
import type { Handler, HostResponse, RoutedRequest } from '../../door/host-types.ts'
import type { Ask, AskedLogin } from '../../door/login.ts'
import { addCookies, LoginCookie, sendCookies } from '../../door/request/cookies.ts'
import { cookieScopeOf, type Visit, visitOf } from '../../door/request/visit.ts'
import { type ChoosableSession, choiceData, RETRY_SOON, SessmgrError, STATUS } from '../../ground/errors.ts'
import type { PendingLogins } from '../../limiter/pending-logins.ts'
import { asksForJson, sendsJson } from '../../middleware/refusal.ts'
import { visitFor } from '../../middleware/visit.ts'
import { RestAnswer, type RestError, retryAfter } from '../../routes/answer.ts'
import { refuseCrossOrigin } from '../../routes/caller.ts'
import { withParameter } from '../../routes/page-addresses.ts'
import { deviceName } from '../../sessions/device.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import { restSentence } from '../../texts/rest-sentence.ts'
import type { ReaderTexts, Say, TextsFor } from '../../texts/texts-for.ts'
import { ChoiceLogins, type ChoiceOutcome, type ChoiceParts, choiceInput, type OpenChoice } from './choice-logins.ts'
import { describeChoice, drawChoice, drawEnd, drawRoom } from './draw-choice.ts'
import { counted, tooOften } from './markup.ts'
import { type PageAnswer, type PageCall, type PageDefinition, page } from './page.ts'
import { CHOICE_FIELDS } from './page-options.ts'
import type { ChoiceView } from './page-views.ts'

/** The choice page, and the function that sends users to it. */
export interface Choice {
  readonly handler: Handler
  readonly ask: Ask
}

/** Creates the choice page. */
export function createChoice(parts: ChoiceParts): Choice {
  const logins = new ChoiceLogins(parts)
  const ask: Ask = (login) => askUser(asking, login)
  const { handler, textsFor } = page(new ChoicePage(parts, logins, ask))
  const { url, seconds, showsIp, secretInBody } = parts.options
  const asking: AskParts = { pending: logins.pending, page: { url, seconds, showsIp, secretInBody }, textsFor }
  return { handler, ask }
}

/** HTTP status of the page when it is shown again, by problem. */
const PROBLEM_STATUS = { few: 400, changed: 409, unproved: 403, guessed: 429 } as const

/** The page where users at the limit choose which sessions to end. */
class ChoicePage implements PageDefinition {
  readonly name = 'choice'
  readonly headers = { 'Cross-Origin-Opener-Policy': 'same-origin' }
  readonly ownFields: readonly string[]
  readonly targets: readonly string[]
  readonly path: string
  readonly parts: ChoiceParts
  readonly #logins: ChoiceLogins
  readonly #ask: Choice['ask']

  constructor(parts: ChoiceParts, logins: ChoiceLogins, ask: Choice['ask']) {
    const { url, field, loginUrl, successRedirect } = parts.options
    this.parts = parts
    // Behind a proxy that removes a prefix, this differs from the path of the request.
    this.path = url
    this.ownFields = [...CHOICE_FIELDS, field.name]
    this.targets = [loginUrl, successRedirect]
    this.#logins = logins
    this.#ask = ask
  }

  async view(call: PageCall, response: HostResponse): Promise<PageAnswer> {
    const { request } = call
    const cookie = cookieOf(request)
    // A signed-in browser without the cookie has already finished its login.
    const isOver = visitOf(request)?.sessmgr?.session && cookie === undefined
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
    // Native applications send no origin, and browsers never add the secret to a body by themselves.
    if (inBody === undefined) refuseCrossOrigin(request)
    const secret = inBody ?? cookie
    if (secret === undefined) return { kind: 'expired' }
    if (!isJson) {
      const login = await this.#logins.pending.read(secret)
      if (!login) return { kind: 'expired' }
      await call.requireFromPage(input.fields.proof, subjectOf({ secret, login }))
    }
    return this.#logins.choose({ request, response }, secret, input)
  }

  async #answer(call: PageCall, response: HostResponse, outcome: ChoiceOutcome): Promise<PageAnswer> {
    // The application's code may have responded already.
    if (response.headersSent) return undefined
    const { request } = call
    if (outcome.kind === 'signed_in' && cookieOf(call.request) !== undefined) {
      addCookies(response, PENDING_COOKIE.remove(cookieScopeOf(request)))
    }
    if (isScript(call.request))
      return answerOutcome(outcome, { ask: this.#ask, visit: visitFor(request), say: call.say })
    return this.#pageOf(call, outcome)
  }

  async #pageOf(call: PageCall, outcome: ChoiceOutcome): Promise<PageAnswer> {
    const { kind } = outcome
    const { loginUrl } = this.parts.options
    if (kind === 'open') {
      const { problem, retryAt } = outcome
      const status = problem === undefined ? 200 : PROBLEM_STATUS[problem]
      return {
        view: await this.#open(call, outcome),
        status,
        headers: problem === 'guessed' ? retryAfter(retryAt) : {},
      }
    }
    if (kind === 'often') {
      return { view: this.#end(call, kind, outcome.until), status: 429, headers: retryAfter(outcome.until) }
    }
    if (kind === 'spent') return { view: this.#end(call, kind), status: 503 }
    if (kind === 'signed_in') return { to: outcome.target }
    if (kind === 'cancelled') return { to: loginUrl }
    const reason = kind === 'blocked' ? kind : call.request.headers.cookie === undefined ? 'cookies' : 'expired'
    const text =
      kind === 'gone' ? 'rest_sign_in' : reason === 'blocked' ? 'login_blocked' : (`choice_${reason}` as const)
    return { to: withParameter(loginUrl, 'choice', reason), sentence: call.say(text) }
  }

  /** Returns the page where the user chooses, or a page that explains that no choice is needed any more. */
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

/** Checks whether a request gets a JSON response. A form always gets a page, whatever its `Accept` header. */
function isScript(request: RoutedRequest): boolean {
  return request.method === 'POST' ? sendsJson(request) : asksForJson(request)
}

/** Returns the secret in the cookie of a request. */
function cookieOf(request: RoutedRequest): string | undefined {
  return PENDING_COOKIE.read(request.headers.cookie, cookieScopeOf(request))
}

/** Returns whom a form is for: the user of one pending login. */
function subjectOf({ secret, login }: Pick<OpenChoice, 'secret' | 'login'>) {
  return { userId: login.userId, token: createHash('sha256').update(`proof ${secret}`).digest('hex') }
}

/** What responses to scripts are built from. */
interface AnswerParts {
  /** Describes what the user has to choose. */
  readonly ask: Ask
  readonly visit: Visit
  readonly say: Say
}

/** Returns the JSON response to a script that sent a choice, or asks which sessions may be chosen. */
async function answerOutcome(outcome: ChoiceOutcome, parts: AnswerParts): Promise<RestAnswer> {
  const { say } = parts
  switch (outcome.kind) {
    case 'open':
      return answerOpen(outcome, parts)
    case 'signed_in':
      return RestAnswer.json({ signed_in: true, ended: outcome.ended })
    case 'cancelled':
      return RestAnswer.json({ signed_in: false, ended: 0 })
    case 'often':
      return tooMany(say('choice_often'), outcome.until)
    case 'blocked':
      return refusal(STATUS.login_limit_reached, 'login_limit_reached', say('login_blocked'))
    case 'gone':
      return refusal(401, 'rest_forbidden', say('rest_sign_in'))
    case 'spent':
      return refusal(STATUS.store_unavailable, 'store_unavailable', say('choice_spent'), { headers: RETRY_SOON })
    default:
      return refusal(STATUS.login_choice_expired, 'login_choice_expired', say('choice_expired'))
  }
}

async function answerOpen(
  { problem, choice, login, isRace, retryAt }: ChoiceOutcome & { kind: 'open' },
  { ask, visit, say }: AnswerParts,
): Promise<RestAnswer> {
  if (problem === 'unproved') return refusal(403, 'wrong_password', say('choice_wrong'))
  if (problem === 'guessed') return tooMany(tooOften(say, retryAt), retryAt)
  const conflict = STATUS.login_conflict
  const expiresIn = Math.ceil(login.leftMs / 1000)
  if (!choice && problem === undefined) {
    const data = { need: 0, expires_in: expiresIn, sessions: [] }
    return refusal(STATUS.login_choice_required, 'login_choice_required', say('choice_room'), { data })
  }
  if (!choice) return refusal(conflict, 'login_conflict', say('rest_login_conflict'), { headers: RETRY_SOON })
  const error = await ask({ visit, userId: login.userId, choice, label: login.label, isPending: true })
  const data = error.choice && choiceData({ ...error.choice, expiresIn })
  // The user has not chosen yet, or has to choose again because the sessions have changed.
  if (problem === undefined || isRace) return refusal(error.status, error.code, error.message, { data })
  const { need } = choice
  return refusal(STATUS.invalid_choice, 'invalid_choice', say(counted('choice_few', need), { need }), { data })
}

/**
 * Returns the JSON response to a request that was invalid, or that the store could not serve.
 */
function answerFailure({ status, code, message, headers }: RestError | SessmgrError, texts: ReaderTexts) {
  return refusal(status, code, restSentence(message, texts, code), { headers })
}

function tooMany(message: string, retryAt: number | undefined): RestAnswer {
  return refusal(429, 'too_many_attempts', message, { headers: retryAfter(retryAt) })
}

function refusal(
  status: number,
  code: string,
  message: string,
  { data = {}, headers = {} }: { data?: object | undefined; headers?: Readonly<Record<string, string>> } = {},
): RestAnswer {
  return RestAnswer.json({ code, message, data: { status, ...data } }, { status, headers })
}

/** The cookie with the secret of a pending login. */
const PENDING_COOKIE = new LoginCookie('sessmgr_pending')
/** How long the cookie outlasts the pending login, so that a late user does not seem to refuse cookies. */
const COOKIE_SECONDS = 86_400

/** How users are asked which sessions to end. */
export interface AskOptions {
  /** Address of the page. */
  readonly url: string
  /** How many seconds a login waits for the choice. */
  readonly seconds: number
  /** Whether users see the addresses of their sessions. */
  readonly showsIp: boolean
  /** Whether the error also contains the secret of the pending login, for clients without cookies. */
  readonly secretInBody: boolean
}

interface AskParts {
  readonly pending: PendingLogins
  readonly page: AskOptions
  readonly textsFor: TextsFor
}

/**
 * Opens a pending login and sends its secret to the browser. Returns the `login_choice_required` error, which describes
 * the choice.
 *
 * @throws SessmgrError `store_unavailable`, or `session_ended` if the user was erased in the meantime. In both
 * cases, no login stays open.
 */
export async function askUser({ pending, page, textsFor }: AskParts, login: AskedLogin): Promise<SessmgrError> {
  const { visit, userId, choice, label, isPending } = login
  const { say } = textsFor(visit.own)
  const { url, seconds, showsIp, secretInBody } = page
  const { need, maximum } = choice
  const latestFirst = choice.sessions.toSorted((one, other) => other.lastSeenAt - one.lastSeenAt)
  const sessions = await Promise.all(latestFirst.map((record) => describe(record, showsIp, say)))
  const secret = isPending ? undefined : await pending.open(userId, seconds * 1000, label)
  if (secret) sendCookies(visit, [PENDING_COOKIE.write(secret, seconds + COOKIE_SECONDS, visit.cookieScope)])
  return new SessmgrError(
    'login_choice_required',
    say(need === 1 ? 'login_choice_one' : 'login_choice_other', { count: need }),
    {
      choice: { url, need, maximum, expiresIn: seconds, sessions, ...(secret && secretInBody && { pending: secret }) },
    },
  )
}

async function describe(
  { token, userAgent, createdAt, lastSeenAt, ip }: SessionRecord,
  showsIp: boolean,
  say: Say,
): Promise<ChoosableSession> {
  const { name } = await deviceName(userAgent, say('account_device'))
  return { token, device: name, createdAt, lastSeenAt, ...(showsIp && { ip }) }
}
