import type { HostResponse, RoutedRequest } from '../../door/host-types.ts'
import type { DeviceCookies } from '../../door/request/device-cookies.ts'
import { ownRequestOf, visitOf } from '../../door/request/visit.ts'
import { asUnavailable } from '../../door/stores/store-error.ts'
import { SessmgrError, type SessmgrErrorCode } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import type { LoginAttempt, SessionChoice } from '../../limiter/decision/evaluate-login.ts'
import type { LoginPreview } from '../../limiter/decision/refusals.ts'
import type { SessionManager } from '../../limiter/manage-sessions.ts'
import { type PendingLogin, PendingLogins } from '../../limiter/pending-logins.ts'
import { sendsJson } from '../../middleware/refusal.ts'
import { visitFor } from '../../middleware/visit.ts'
import type { SettingsService } from '../../options/session-settings.ts'
import { RestError } from '../../routes/answer.ts'
import { bodyText, jsonBody } from '../../routes/body.ts'
import { isAddress } from '../../routes/page-addresses.ts'
import type { Token } from '../../sessions/session-record.ts'
import { CHOICES, CODES, countUse, type Frequency, giveBack, nextUse, type Use } from '../../sessions/user-state.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { PageParts } from './page.ts'
import type { ResolvedChoiceOptions } from './page-options.ts'
import type { ChoiceProblem } from './page-views.ts'
import { countGuess, type GuessParts } from './proof.ts'

export interface ChoiceParts extends PageParts, GuessParts {
  readonly options: ResolvedChoiceOptions
  readonly store: SessmgrStore
  readonly settings: SettingsService
  readonly sessions: Pick<SessionManager, 'end'>
  /** Loads the code that recognizes browsers. Undefined without the `device` option. */
  readonly devices: (() => Promise<DeviceCookies>) | undefined
  /** Returns the decision on a login without performing the login. */
  preview(attempt: LoginAttempt): Promise<LoginPreview>
}

/** How many second proofs a user may send by default. */
const TWENTY_IN_TEN_MINUTES: Frequency = { count: 20, minutes: 10 }

/** Maximum number of tokens in a choice. A longer list counts as an unknown session. */
const MOST_ENDS = 100

/** What a client sends to the choice page. */
interface ChoiceInput {
  /** Tokens of the sessions to end. Anything that is not a token becomes an empty string. */
  readonly ends: readonly string[]
  /** Whether to end all sessions. */
  readonly all: boolean
  /** Whether to give up the login. */
  readonly cancel: boolean
  /** The secret of the login, if it is in the body. */
  readonly pending: string | undefined
  /** All fields that are strings. */
  readonly fields: Readonly<Record<string, string>>
}

const TOO_MUCH: ChoiceInput = { ends: [''], all: false, cancel: false, pending: undefined, fields: {} }

/**
 * Reads the body of a choice. A body that is too large counts as the choice of an unknown session.
 *
 * @throws RestError if the body cannot be read.
 */
export async function choiceInput(request: RoutedRequest): Promise<ChoiceInput> {
  try {
    return inputOf(sendsJson(request) ? ((await jsonBody(request)) ?? {}) : await formOf(request))
  } catch (error) {
    if (error instanceof RestError && error.status === 413) return TOO_MUCH
    throw error
  }
}

/** Reads a form, even if the application's body parser has already read it. */
async function formOf(request: RoutedRequest): Promise<Readonly<Record<string, unknown>>> {
  if (request.body !== undefined && request.readableEnded) return Object(request.body)
  const form = new URLSearchParams(await bodyText(request))
  return { ...Object.fromEntries(form), end: form.getAll('end') }
}

function inputOf(body: Readonly<Record<string, unknown>>): ChoiceInput {
  const { end, all, cancel, pending } = body
  // Body parsers turn repeated fields into an array or, if there are many, into an object.
  const given = end === undefined ? [] : Object.values(Object(typeof end === 'object' ? end : [end]))
  const strings = Object.entries(body).filter((field): field is [string, string] => typeof field[1] === 'string')
  return {
    ends: given.length > MOST_ENDS ? [''] : [...new Set(given.map((one) => (typeof one === 'string' ? one : '')))],
    all: isYes(all),
    cancel: isYes(cancel),
    pending: typeof pending === 'string' ? pending : undefined,
    fields: Object.fromEntries(strings),
  }
}

const isYes = (value: unknown): boolean => value === true || value === '1'

/** What the user has to choose, and for which pending login. */
export interface OpenChoice {
  readonly login: PendingLogin
  readonly secret: string
  /** What the user has to choose. Undefined if the login would be admitted without a choice. */
  readonly choice: SessionChoice | undefined
  /** The sessions that were chosen before. */
  readonly chosen: readonly Token[]
  readonly problem: ChoiceProblem | undefined
  /** When the next second proof is allowed, if there were too many and this is known. */
  readonly retryAt?: number | undefined
  /** Whether the login lost a race, although enough sessions were chosen. */
  readonly isRace?: boolean
}

/**
 * The result of a request for the page. `open`: the user has to choose. `signed_in`, `cancelled`: the login has ended.
 * `expired`: the login no longer exists. `gone`: the user of the login was not found. `blocked`: the limit leaves no
 * choice. `often`: the user has chosen too often. `spent`: the store failed during the login.
 */
export type ChoiceOutcome =
  | ({ readonly kind: 'open' } & OpenChoice)
  | { readonly kind: 'signed_in'; readonly ended: number; readonly target: string }
  | { readonly kind: 'often'; readonly until: number }
  | { readonly kind: 'cancelled' | 'expired' | 'gone' | 'blocked' | 'spent' }

/** A pending login, and the request that continues it. */
interface Continued {
  readonly request: RoutedRequest
  readonly login: PendingLogin
  readonly secret: string
}

/** A choice that is being carried out. */
interface Choosing extends Continued {
  readonly response: HostResponse
  /** The application's user object. */
  readonly user: unknown
  readonly ends: readonly Token[]
  /** What was counted toward the cooldown, if one is set and the choice ends sessions. */
  readonly use: Use | undefined
  /** How many sessions the choice ends. */
  readonly ended: number
}

/** Error codes of a login that was refused, and so ended no session. */
const REFUSED: readonly SessmgrErrorCode[] = ['login_choice_required', 'login_limit_reached', 'session_ended']

/** Checks whether a failed login is certain to have ended no session. After a failure of the store, this is unknown. */
function didNothing(error: unknown, { request, login }: Continued): boolean {
  if (error instanceof SessmgrError && REFUSED.includes(error.code)) return true
  if (error instanceof SessmgrError && error.status === 503) return false
  return String(visitOf(request)?.sessmgr?.session?.userId) !== String(login.userId)
}

/** Finishes pending logins. No session ends before the login itself, which checks the limit again. */
export class ChoiceLogins {
  readonly pending: PendingLogins
  readonly #parts: ChoiceParts

  constructor(parts: ChoiceParts) {
    this.#parts = parts
    this.pending = new PendingLogins(parts.store)
  }

  /** Returns what the user of a pending login has to choose now. */
  async open(request: RoutedRequest, secret: string | undefined): Promise<ChoiceOutcome> {
    const login = await this.pending.read(secret)
    if (!login || secret === undefined) return { kind: 'expired' }
    const until = await this.#nextChoice(login)
    if (until !== undefined) return { kind: 'often', until }
    return this.#again({ request, login, secret })
  }

  /** Carries out what a form or a script requests. */
  async choose(
    { request, response }: { readonly request: RoutedRequest; readonly response: HostResponse },
    secret: string,
    input: ChoiceInput,
  ): Promise<ChoiceOutcome> {
    const login = await this.pending.read(secret)
    if (!login) return { kind: 'expired' }
    const at = { request, login, secret }
    if (input.cancel) return this.#spend(at, 'cancelled')
    const until = await this.#nextChoice(login)
    if (until !== undefined) return { kind: 'often', until }
    const user = this.#parts.host ? await this.#parts.findSignedIn(login.userId) : { id: login.userId }
    if (user === undefined) return this.#spend(at, 'gone')

    const before = input.all ? await this.#preview(at, []) : undefined
    const ends = before ? (before.choice?.sessions.map(({ token }) => token) ?? []) : input.ends
    const preview = await this.#preview(at, ends)
    if (!preview.admit) return this.#refuse(at, preview, ends)
    const { verify, field, attempts = TWENTY_IN_TEN_MINUTES, cooldown } = this.#parts.options
    if (verify && !input.fields[field.name]) return this.#again(at, ends, 'unproved')
    const guess = verify && (await countGuess(this.#parts, request, login.userId, countUse(CODES, attempts)))
    if (guess?.kind === 'often') {
      const outcome = await this.#again(at, ends, 'guessed')
      return outcome.kind === 'open' ? { ...outcome, retryAt: guess.retryAt } : outcome
    }
    if (!(await this.pending.take(secret))) {
      await guess?.giveBack()
      return { kind: 'expired' }
    }
    const checking = guess?.check(() => verify?.(ownRequestOf(request), user, input.fields))
    const isRight = await checking?.catch(async (error) => {
      await this.pending.putBack(secret, false)
      throw error
    })
    if (isRight === false) return this.#putBack(at, ends, 'unproved')
    // Checking a proof can be slow, and the password may have been changed in the meantime.
    if (verify && !(await this.pending.isValid(secret))) return { kind: 'expired' }
    const { sessions } = this.#parts.store
    const use = cooldown && preview.ends > 0 && (await sessions.changeState(login.userId, countUse(CHOICES, cooldown)))
    if (use && use.until !== undefined) {
      await this.pending.putBack(secret, false)
      return { kind: 'often', until: use.until }
    }
    return this.#finish({ ...at, response, user, ends, use: use || undefined, ended: preview.ends })
  }

  /** Returns when the user may choose again, or undefined if they may choose now. */
  async #nextChoice({ userId }: PendingLogin): Promise<number | undefined> {
    const { cooldown } = this.#parts.options
    return cooldown && this.#parts.store.sessions.changeState(userId, nextUse(CHOICES, cooldown))
  }

  async #finish(choosing: Choosing): Promise<ChoiceOutcome> {
    const { request, login, secret, ends, use, ended } = choosing
    const { returnTo } = Object(visitOf(request)?.session)
    try {
      await this.#signIn(choosing)
      // Calls that ended the user's sessions before this login was registered have missed its session.
      if (!(await this.pending.close(secret))) return await this.#undo(choosing)
    } catch (given) {
      const error = asUnavailable(given)
      // A choice that had no effect does not count. If that cannot be stored, it counts until the period is over.
      if (use && didNothing(error, choosing)) {
        await this.#parts.store.sessions.changeState(login.userId, giveBack(use)).catch(() => {})
      }
      if (!(error instanceof SessmgrError)) throw error
      if (error.code === 'login_choice_required') return this.#putBack(choosing, ends, 'changed')
      if (error.code === 'login_limit_reached') return { kind: 'blocked' }
      if (error.code === 'session_ended') return { kind: 'expired' }
      if (error.status === 503) return { kind: 'spent' }
      throw error
    }
    return { kind: 'signed_in', ended, target: isAddress(returnTo) ? returnTo : this.#parts.options.successRedirect }
  }

  /** Signs the user in as the application does. The login ends the sessions that the user chose. */
  async #signIn({ request, response, login, user, ends }: Choosing): Promise<void> {
    const visit = visitFor(request)
    const { complete } = this.#parts.options
    // Without Passport, only the application can put the user into the session.
    const logIn = complete ? () => complete(ownRequestOf(request), response, user) : visit.passportLogin
    if (!logIn) throw invalidOption('choice() needs "complete" on a request without Passport')
    visit.chosen = { ends, label: login.label }
    try {
      await logIn(user)
    } finally {
      visit.chosen = undefined
    }
    const signedIn = visit.sessmgr?.session?.userId
    if (String(signedIn) !== String(login.userId)) throw invalidOption('"complete" of choice() must sign the user in')
  }

  /** Ends the session of a login that became void while it was in progress. */
  async #undo({ request, login }: Continued): Promise<ChoiceOutcome> {
    const { session } = visitOf(request)?.sessmgr ?? {}
    if (session) await this.#parts.sessions.end(login.userId, session.token)
    return { kind: 'expired' }
  }

  /** Restores a pending login whose choice was refused, so that the user can choose again. */
  async #putBack(at: Continued, chosen: readonly Token[], problem: ChoiceProblem): Promise<ChoiceOutcome> {
    const login = await this.pending.putBack(at.secret, problem === 'changed')
    if (!login) return { kind: 'expired' }
    const outcome = await this.#again({ ...at, login }, chosen, problem)
    return outcome.kind === 'open' ? { ...outcome, isRace: problem === 'changed' } : outcome
  }

  async #again(at: Continued, chosen: readonly Token[] = [], problem?: ChoiceProblem): Promise<ChoiceOutcome> {
    const { admit, choice } = await this.#preview(at, [])
    return admit || choice ? openOf(at, choice, chosen, problem) : this.#spend(at, 'blocked')
  }

  async #refuse(at: Continued, { choice }: LoginPreview, ends: readonly Token[]): Promise<ChoiceOutcome> {
    if (!choice) return this.#spend(at, 'blocked')
    const isKnown = (token: Token) => choice.sessions.some((session) => session.token === token)
    return openOf(at, choice, ends, ends.every(isKnown) ? 'few' : 'changed')
  }

  async #spend({ secret }: Continued, kind: 'cancelled' | 'gone' | 'blocked'): Promise<ChoiceOutcome> {
    await this.pending.take(secret)
    return { kind }
  }

  async #preview({ request, login: { userId, label } }: Continued, ends: readonly Token[]): Promise<LoginPreview> {
    const visit = visitFor(request)
    const recognizer = await this.#parts.devices?.()
    const own = visit.sessmgr?.session
    return this.#parts.preview({
      userId,
      terms: { label: label ?? null, counts: true },
      replaces: own && String(own.userId) === String(userId) ? visit.sessionID : undefined,
      ip: request.ip ?? request.socket.remoteAddress,
      userAgent: request.headers['user-agent'],
      device: recognizer?.recognizeRequest(userId, visit).id,
      ends,
      canAsk: true,
    })
  }
}

function openOf(
  { login, secret }: Continued,
  choice: SessionChoice | undefined,
  chosen: readonly Token[],
  problem: ChoiceProblem | undefined,
): ChoiceOutcome {
  return { kind: 'open', login, secret, choice, chosen, problem }
}
