import type { HostRequest } from '../../guard/host-types.ts'
import { Guesses, type GuessParts } from '../../pages/guesses.ts'
import type { Reader } from '../../routes/caller.ts'
import type { Token } from '../../sessions/token.ts'
import type { StepUpOptions } from './resolve-account-options.ts'

/** How long a proof lasts. */
const PROOF_MS = 600_000

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

export interface StepUpParts extends GuessParts {
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
  readonly #guesses: Guesses | undefined

  constructor(parts: StepUpParts, options: StepUpOptions = {}) {
    this.#parts = parts
    this.#options = options
    this.url = options.url
    this.#guesses = options.verify && new Guesses(parts, 'password', options.attempts)
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
   * Checks a password. Each one counts, whether it is right or wrong: five in ten minutes per user by default.
   *
   * @throws SessmgrError `store_unavailable`, also if `host.attempts` takes too long.
   */
  async tryPassword(request: HostRequest, reader: Reader, password: string): Promise<PasswordResult> {
    const guess = await this.#guesses?.count(request, reader.userId)
    if (guess?.kind === 'often') return guess
    // Without a deadline, because it may wait for a person to approve.
    if ((await this.#options.verify?.(request, password)) === true) {
      return { kind: 'right', until: await this.prove(reader) }
    }
    await guess?.failed()
    return { kind: 'wrong' }
  }
}
