import type { Logger } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { HostRequest } from '../guard/host-types.ts'
import type { Host } from '../host/host.ts'
import type { FindSignedIn } from '../host/signed-in-user.ts'
import { type Frequency, guessesKey, Reservations } from '../limiter/reservations.ts'
import type { TransientStore } from '../options/transient-store.ts'

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
export type Guess =
  | { readonly kind: 'counted'; failed(): Promise<void> }
  | { readonly kind: 'often'; readonly retryAt: number | undefined }

/**
 * Limits guesses of a password or a code, per user and across processes. Each counts before it is checked, and is never
 * given back, so that concurrent guesses cannot exceed the limit. Also asks the application's own limit on attempts.
 */
export class Guesses {
  readonly #parts: GuessParts
  readonly #proof: 'password' | 'choice'
  readonly #reservations: Reservations

  /** @param proof What is guessed. Each kind of proof is counted by itself. */
  constructor(parts: GuessParts, proof: 'password' | 'choice', frequency = FIVE_IN_TEN_MINUTES) {
    this.#parts = parts
    this.#proof = proof
    this.#reservations = new Reservations(parts.store.transients, frequency, parts.logger)
  }

  /**
   * Counts a guess before it is checked.
   *
   * @throws SessmgrError `store_unavailable`, also if `host.attempts` takes too long.
   */
  async count(request: HostRequest, userId: UserId): Promise<Guess> {
    const { attempts } = this.#parts.host ?? {}
    const attempt = attempts && {
      ip: request.ip ?? request.socket.remoteAddress ?? null,
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

/** Returns in how many seconds a time comes, for `Retry-After`: a minute if it is unknown. */
export function secondsUntil(retryAt: number | undefined): string {
  return String(retryAt === undefined ? 60 : Math.max(1, Math.ceil((retryAt - Date.now()) / 1000)))
}
