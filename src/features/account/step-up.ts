import type { HostRequest } from '../../guard/host-types.ts'
import type { Host } from '../../host/host.ts'
import type { FindSignedIn } from '../../host/signed-in-user.ts'
import { createUserQueue } from '../../limiter/user-queue.ts'
import type { TransientStore } from '../../options/transient-store.ts'
import type { Reader } from '../../routes/caller.ts'
import type { Token } from '../../sessions/token.ts'
import type { StepUpOptions } from './resolve-account-options.ts'

/** How long a proof lasts. */
const PROOF_MS = 600_000
const MOST_TRIES = 5
const TRIES_MS = 600_000
const HOLD_MS = 5000

/**
 * How users prove their identity: not at all, by signing in again, with their password, or on a page of the
 * application.
 */
export type StepUpKind = 'none' | 'login' | 'password' | 'url'

/** The result of checking a password. `retryAt` is when another password may be tried, if known. */
export type PasswordResult =
  | { readonly kind: 'right'; readonly until: number }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'often'; readonly retryAt: number | undefined }

export interface StepUpParts {
  readonly host: Host | undefined
  readonly store: { readonly transients: TransientStore }
  readonly findSignedIn: FindSignedIn
  /** When the user of a request logged in with its session, or undefined if this is unknown. */
  loginAtOf(request: HostRequest): number | undefined
}

/** Key of a session's proof. It contains the session's token, so the proof is valid only for this session. */
const proofKey = (token: Token): string => `fresh:${token}`

/** Asks users for a proof before they end sessions, and remembers it for their session. */
export class StepUp {
  readonly kind: StepUpKind
  readonly url: string | undefined
  readonly #parts: StepUpParts
  readonly #options: StepUpOptions
  readonly #inTurn = createUserQueue(HOLD_MS)

  constructor(parts: StepUpParts, options: StepUpOptions = {}) {
    this.#parts = parts
    this.#options = options
    this.url = options.url
    this.kind = options.freshFor ? 'login' : options.verify ? 'password' : options.url ? 'url' : 'none'
  }

  /** Checks whether the session of a request may end others now. */
  async isProved(request: HostRequest, { token }: Reader): Promise<boolean> {
    if (this.kind === 'none') return true
    const { freshFor = 0 } = this.#options
    const loginAt = this.#parts.loginAtOf(request)
    if (loginAt !== undefined && Date.now() - loginAt < freshFor * 1000) return true
    return (await this.#parts.store.transients.get(proofKey(token))) !== undefined
  }

  /** Remembers a proof, and returns when it expires. */
  async prove({ token }: Reader): Promise<number> {
    await this.#parts.store.transients.set(proofKey(token), '1', PROOF_MS)
    return Date.now() + PROOF_MS
  }

  /** Remembers a login whose session has no marker, as with explicit calls. */
  async noteLogin(token: Token): Promise<void> {
    const { freshFor = 0 } = this.#options
    await this.#parts.store.transients.set(proofKey(token), '1', freshFor * 1000)
  }

  /**
   * Checks a password. Limits wrong passwords with `host.attempts`, or else to five in ten minutes per session.
   *
   * @throws SessmgrError `store_unavailable`, also if `host.attempts` takes too long.
   */
  async tryPassword(request: HostRequest, reader: Reader, password: string): Promise<PasswordResult> {
    const { attempts } = this.#parts.host ?? {}
    const attempt = attempts && {
      ip: request.ip ?? request.socket.remoteAddress ?? null,
      name: await this.#nameOf(reader),
    }
    if (attempts && attempt) {
      if ((await attempts.allow(attempt)) !== true) return { kind: 'often', retryAt: undefined }
    } else {
      const retryAt = await this.#noteTry(reader)
      if (retryAt !== undefined) return { kind: 'often', retryAt }
    }
    // Without a deadline, because it may wait for a person to approve.
    if ((await this.#options.verify?.(request, password)) === true) {
      await this.#forgetTries(reader)
      return { kind: 'right', until: await this.prove(reader) }
    }
    if (attempts && attempt) await attempts.failed(attempt)
    return { kind: 'wrong' }
  }

  async #nameOf({ userId }: Reader): Promise<string> {
    const { host, findSignedIn } = this.#parts
    const user = await findSignedIn(userId)
    return user === undefined || !host ? String(userId) : host.users.summary(user).login
  }

  /**
   * Counts an attempt before its password is checked. If the attempt is not allowed, returns when the next one will be.
   */
  #noteTry({ token }: Reader): Promise<number | undefined> {
    const { transients } = this.#parts.store
    return this.#inTurn(token, async () => {
      const now = Date.now()
      const tries = ((await transients.get(triesKey(token))) ?? '').split(' ').map(Number)
      const recent = tries.filter((at) => at > now - TRIES_MS)
      if (recent.length >= MOST_TRIES) return (recent[0] as number) + TRIES_MS
      await transients.set(triesKey(token), [...recent, now].join(' '), TRIES_MS)
      return undefined
    })
  }

  async #forgetTries({ token }: Reader): Promise<void> {
    if (!this.#parts.host?.attempts) await this.#parts.store.transients.set(triesKey(token), '', 1)
  }
}

const triesKey = (token: Token): string => `tries:${token}`
