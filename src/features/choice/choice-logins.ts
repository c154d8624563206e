import { SessmgrError } from '../../ground/errors.ts'
import type { HostRequest } from '../../guard/host-types.ts'
import { guardedRequestOf } from '../../guard/request/host-visit.ts'
import type { LoginPreview } from '../../limiter/decision/preview-login.ts'
import { type PendingLogin, PendingLogins } from '../../limiter/pending/pending-logins.ts'
import { isAddress } from '../../routes/page-addresses.ts'
import type { Token } from '../../sessions/token.ts'
import type { ChoiceInput } from './choice-input.ts'
import type { ChoiceOutcome } from './choice-outcome.ts'
import type { ChoiceParts } from './choice-parts.ts'
import type { ChoiceProblem } from './choice-view.ts'
import { Cooldown } from './cooldown.ts'
import { type ChoiceCall, signIn } from './sign-in.ts'

/** Finishes pending logins. No session ends before the login itself, which decides again. */
export class ChoiceLogins {
  readonly pending: PendingLogins
  readonly #parts: ChoiceParts
  readonly #cooldown: Cooldown

  constructor(parts: ChoiceParts) {
    this.#parts = parts
    this.pending = new PendingLogins(parts.store)
    this.#cooldown = new Cooldown(parts.store, parts.options.cooldown)
  }

  /** Returns what the user of a pending login has to choose now. */
  async open(request: HostRequest, secret: string | undefined): Promise<ChoiceOutcome> {
    const login = await this.pending.read(secret)
    if (!login || secret === undefined) return { kind: 'expired' }
    const until = await this.#cooldown.until(login.userId)
    if (until !== undefined) return { kind: 'often', until }
    return this.#again(request, login, secret, [], undefined)
  }

  /** Carries out what a form or a script requests. */
  async choose(call: ChoiceCall, secret: string, input: ChoiceInput): Promise<ChoiceOutcome> {
    const { request } = call
    const login = await this.pending.read(secret)
    if (!login) return { kind: 'expired' }
    if (input.cancel) return this.#spend(secret, 'cancelled')
    const until = await this.#cooldown.until(login.userId)
    if (until !== undefined) return { kind: 'often', until }
    const user = await this.#userOf(login)
    if (user === undefined) return this.#spend(secret, 'gone')

    const before = input.all ? await this.#preview(request, login, []) : undefined
    const ends = before ? (before.choice?.sessions.map(({ token }) => token) ?? []) : input.ends
    const preview = await this.#preview(request, login, ends)
    if (!preview.admit) return this.#refuse(preview, login, secret, ends)
    const { verify, field } = this.#parts.options
    if (verify && !input.fields[field.name]) return this.#again(request, login, secret, ends, 'unproved')
    if (!(await this.pending.take(secret))) return { kind: 'expired' }
    if (verify && (await this.#isProved(request, user, input)) !== true) {
      return this.#putBack(request, login, secret, ends, 'unproved')
    }
    // Checking a proof can take long, and the password may have been changed in the meantime.
    if (verify && (await this.pending.isVoid(login))) return { kind: 'expired' }
    return this.#finish(call, { login, secret, user, ends, ended: preview.ends })
  }

  async #finish(
    call: ChoiceCall,
    {
      login,
      secret,
      user,
      ends,
      ended,
    }: { login: PendingLogin; secret: string; user: unknown; ends: readonly Token[]; ended: number },
  ): Promise<ChoiceOutcome> {
    const { request } = call
    const { returnTo } = Object(request.session)
    try {
      await signIn(this.#parts, call, { userId: login.userId, user }, ends)
      // Calls that ended the user's sessions before this login was registered have not ended its session.
      if (await this.pending.isVoid(login)) return await this.#undo(request, login)
    } catch (error) {
      if (!(error instanceof SessmgrError)) throw error
      if (error.code === 'login_choice_required') return this.#putBack(request, login, secret, ends, 'changed')
      if (error.code === 'login_limit_reached') return { kind: 'blocked' }
      if (error.code === 'session_ended') return { kind: 'expired' }
      if (error.status === 503) return { kind: 'spent' }
      throw error
    }
    if (ended > 0) await this.#cooldown.note(login.userId).catch(() => {})
    const target = isAddress(returnTo) ? returnTo : this.#parts.options.successRedirect
    return { kind: 'signed_in', ended, target }
  }

  /** Ends the session of a login that became void while it was under way. */
  async #undo(request: HostRequest, { userId }: PendingLogin): Promise<ChoiceOutcome> {
    const { session } = guardedRequestOf(request).sessmgr ?? {}
    if (session) await this.#parts.sessions.end(userId, session.token)
    return { kind: 'expired' }
  }

  /** Restores a pending login whose choice was refused after all. */
  async #putBack(
    request: HostRequest,
    login: PendingLogin,
    secret: string,
    chosen: readonly Token[],
    problem: ChoiceProblem,
  ): Promise<ChoiceOutcome> {
    const left = await this.pending.putBack(secret, login)
    if (!left) return { kind: 'expired' }
    const outcome = await this.#again(request, left, secret, chosen, problem)
    return outcome.kind === 'open' ? { ...outcome, isRace: problem === 'changed' } : outcome
  }

  async #again(
    request: HostRequest,
    login: PendingLogin,
    secret: string,
    chosen: readonly Token[],
    problem: ChoiceProblem | undefined,
  ): Promise<ChoiceOutcome> {
    const { admit, choice } = await this.#preview(request, login, [])
    if (!admit && !choice) return this.#spend(secret, 'blocked')
    return { kind: 'open', login, secret, choice, chosen, problem }
  }

  #refuse(
    { choice }: LoginPreview,
    login: PendingLogin,
    secret: string,
    ends: readonly Token[],
  ): Promise<ChoiceOutcome> {
    if (!choice) return this.#spend(secret, 'blocked')
    const isKnown = (token: Token) => choice.sessions.some((session) => session.token === token)
    const problem = ends.every(isKnown) ? 'few' : 'changed'
    return Promise.resolve({ kind: 'open', login, secret, choice, chosen: ends, problem })
  }

  async #spend(secret: string, kind: 'cancelled' | 'gone' | 'blocked'): Promise<ChoiceOutcome> {
    await this.pending.take(secret)
    return { kind }
  }

  async #userOf({ userId }: PendingLogin): Promise<unknown> {
    return this.#parts.host ? this.#parts.findSignedIn(userId) : { id: userId }
  }

  async #isProved(request: HostRequest, user: unknown, { fields }: ChoiceInput): Promise<unknown> {
    return this.#parts.options.verify?.(request, user, fields)
  }

  async #preview(request: HostRequest, { userId }: PendingLogin, ends: readonly Token[]): Promise<LoginPreview> {
    const guarded = guardedRequestOf(request)
    const recognizer = await this.#parts.devices?.()
    const own = guarded.sessmgr?.session
    return this.#parts.preview({
      userId,
      replaces: own && String(own.userId) === String(userId) ? guarded.sessionID : undefined,
      ip: request.ip ?? request.socket.remoteAddress,
      userAgent: request.headers['user-agent'],
      device: recognizer?.recognizeRequest(userId, guarded).id,
      ends,
      canAsk: true,
    })
  }
}
