import type { Logger } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { HostRequest } from '../../guard/host-types.ts'
import type { Host } from '../../host/host.ts'
import type { FindSignedIn } from '../../host/users.ts'
import { type Frequency, guessesKey, Reservations } from '../../limiter/reservations.ts'
import type { TransientStore } from '../../options/transient-store.ts'
import { plainAddress } from '../../sessions/address.ts'
import type { Login, Token } from '../../sessions/session-record.ts'
import type { StepUpOptions } from './page-options.ts'

/** How many guesses of a password or a code a user has by default. */
const FIVE_IN_TEN_MINUTES: Frequency = { count: 5, minutes: 10 }

export interface GuessParts {
  readonly host: Host | undefined
  readonly store: { readonly transients: TransientStore }
  readonly findSignedIn: FindSignedIn
  readonly logger: Logger
}

/**
 * A guess. `counted`: it may be checked now; call `failed` if it is wrong. `often`: there were too many; `retryAt` is
 * when the next one is allowed, if known.
 */
type Guess =
  | { readonly kind: 'counted'; failed(): Promise<void> }
  | { readonly kind: 'often'; readonly retryAt: number | undefined }

/**
 * Limits guesses of a password or a code per user, across processes. Each guess counts before it is checked, right or
 * wrong, so that concurrent guesses cannot exceed the limit. Also applies `host.attempts`, the application's own limit.
 */
export class Guesses {
  readonly #parts: GuessParts
  readonly #proof: 'password' | 'choice'
  readonly #reservations: Reservations

  /** @param proof What is guessed. Each kind of proof is counted separately. */
  constructor(parts: GuessParts, proof: 'password' | 'choice', frequency = FIVE_IN_TEN_MINUTES) {
    this.#parts = parts
    this.#proof = proof
    this.#reservations = new Reservations(parts.store.transients, frequency)
  }

  /**
   * Counts a guess before it is checked.
   *
   * @throws SessmgrError `store_unavailable`, also if `host.attempts` takes too long.
   */
  async count(request: HostRequest, userId: UserId): Promise<Guess> {
    const { attempts } = this.#parts.host ?? {}
    const attempt = attempts && {
      ip: plainAddress(request.ip ?? request.socket.remoteAddress ?? null),
      name: await this.#nameOf(userId),
    }
    if (attempt && (await attempts.allow(attempt)) !== true) return { kind: 'often', retryAt: undefined }
    const { until } = await this.#reservations.reserve(guessesKey(this.#proof, userId))
    if (until !== undefined) return { kind: 'often', retryAt: until }
    return { kind: 'counted', failed: async () => void (attempt && (await attempts.failed(attempt))) }
  }

  async #nameOf(userId: UserId): Promise<string> {
    const { host, findSignedIn } = this.#parts
    const user = await findSignedIn(userId)
    return user === undefined || !host ? String(userId) : host.users.summary(user).login
  }
}

/** How long a proof lasts. */
const PROOF_MS = 600_000

/**
 * How users prove their identity: not at all, by signing in again, with their password, or on a page of the
 * application.
 */
type StepUpKind = 'none' | 'login' | 'password' | 'url'

/** The result of checking a password. `retryAt` is when another password may be tried, if known. */
type PasswordResult =
  | { readonly kind: 'right'; readonly until: number }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'often'; readonly retryAt: number | undefined }

export interface StepUpParts extends GuessParts {
  /** Returns when the user of a request logged in with its session, or undefined if this is unknown. */
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
  readonly #guesses: Guesses | undefined

  constructor(parts: StepUpParts, options: StepUpOptions = {}) {
    this.#parts = parts
    this.#options = options
    this.url = options.url
    this.#guesses = options.verify && new Guesses(parts, 'password', options.attempts)
    this.kind = options.freshFor ? 'login' : options.verify ? 'password' : options.url ? 'url' : 'none'
  }

  /** Checks whether the session of a request may end others now. */
  async isProved(request: HostRequest, { token }: Login): Promise<boolean> {
    if (this.kind === 'none') return true
    const { freshFor = 0 } = this.#options
    const loginAt = this.#parts.loginAtOf(request)
    if (loginAt !== undefined && Date.now() - loginAt < freshFor * 1000) return true
    return (await this.#parts.store.transients.get(proofKey(token))) !== undefined
  }

  /** Remembers a proof, and returns when it expires. */
  async prove({ token }: Login): Promise<number> {
    await this.#parts.store.transients.set(proofKey(token), '1', PROOF_MS)
    return Date.now() + PROOF_MS
  }

  /** Remembers when a user logged in, for sessions without a marker, such as from explicit calls. */
  async noteLogin(token: Token): Promise<void> {
    const { freshFor = 0 } = this.#options
    await this.#parts.store.transients.set(proofKey(token), '1', freshFor * 1000)
  }

  /**
   * Checks a password. Each try counts, right or wrong: by default, five in ten minutes per user.
   *
   * @throws SessmgrError `store_unavailable`, also if `host.attempts` takes too long.
   */
  async tryPassword(request: HostRequest, reader: Login, password: string): Promise<PasswordResult> {
    const guess = await this.#guesses?.count(request, reader.userId)
    if (guess?.kind === 'often') return guess
    // Without a deadline, because `verify` may wait for a person to approve.
    if ((await this.#options.verify?.(request, password)) === true) {
      return { kind: 'right', until: await this.prove(reader) }
    }
    await guess?.failed()
    return { kind: 'wrong' }
  }
}
