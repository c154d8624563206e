import type { RoutedRequest } from '../../door/host-types.ts'
import { ownRequestOf } from '../../door/request/visit.ts'
import type { Logger } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Host } from '../../host/host.ts'
import type { FindSignedIn } from '../../host/users.ts'
import { plainAddress } from '../../sessions/address.ts'
import type { Login } from '../../sessions/session-record.ts'
import { type Counted, countPassword, type Frequency, giveBack, type StateChange } from '../../sessions/user-state.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { StepUpOptions } from './page-options.ts'

/** How many passwords may be tried in one session by default. */
const FIVE_IN_TEN_MINUTES: Frequency = { count: 5, minutes: 10 }

export interface GuessParts {
  readonly host: Host | undefined
  readonly store: Pick<SessmgrStore, 'sessions'>
  readonly findSignedIn: FindSignedIn
  readonly logger: Logger
}

/**
 * A guess. `counted`: it may be checked now. `often`: there were too many; `retryAt` is when the next one is allowed, if
 * known.
 */
type Guess =
  | {
      readonly kind: 'counted'
      /** Checks the guess. From then on, it counts only if it was wrong. */
      check(verify: () => unknown): Promise<boolean>
      /** Stops counting a guess that was not checked. If that fails, it stays counted. */
      giveBack(): Promise<void>
    }
  | { readonly kind: 'often'; readonly retryAt: number | undefined }

/**
 * Counts a guess of a password or a code before it is checked, across processes, so that concurrent guesses cannot
 * exceed the limit. Also applies `host.attempts`, the application's own limit.
 *
 * @param count Counts the guess.
 * @throws SessmgrError `store_unavailable`, also if `host.attempts` takes too long.
 */
export async function countGuess(
  parts: GuessParts,
  request: RoutedRequest,
  userId: UserId,
  count: StateChange<Counted>,
): Promise<Guess> {
  const { attempts } = parts.host ?? {}
  const { sessions } = parts.store
  const attempt = attempts && {
    ip: plainAddress(request.ip ?? request.socket.remoteAddress ?? null),
    name: await nameOf(parts, userId),
  }
  if (attempt && (await attempts.allow(attempt)) !== true) return { kind: 'often', retryAt: undefined }
  const use = await sessions.changeState(userId, count)
  if (use.until !== undefined) return { kind: 'often', retryAt: use.until }
  const giveItBack = () => sessions.changeState(userId, giveBack(use)).catch(() => {})
  return {
    kind: 'counted',
    giveBack: giveItBack,
    async check(verify) {
      let isWrong = false
      try {
        isWrong = (await verify()) !== true
        return !isWrong
      } finally {
        if (!isWrong) await giveItBack()
        else if (attempt) await attempts.failed(attempt)
      }
    },
  }
}

async function nameOf({ host, findSignedIn }: GuessParts, userId: UserId): Promise<string> {
  const user = await findSignedIn(userId)
  return user === undefined || !host ? String(userId) : host.users.summary(user).login
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

/** Asks users for a proof before they end sessions, and remembers it in their session. */
export class StepUp {
  readonly kind: StepUpKind
  readonly url: string | undefined
  readonly #parts: GuessParts
  readonly #options: StepUpOptions

  constructor(parts: GuessParts, options: StepUpOptions = {}) {
    this.#parts = parts
    this.#options = options
    this.url = options.url
    this.kind = options.freshFor ? 'login' : options.verify ? 'password' : options.url ? 'url' : 'none'
  }

  /** Checks whether a session may end others now. */
  async isProved({ userId, token }: Login): Promise<boolean> {
    if (this.kind === 'none') return true
    const { sessions, now } = await this.#parts.store.sessions.read(userId)
    const session = sessions.find(({ record }) => record.token === token)
    const { freshFor = 0 } = this.#options
    if (session?.provedAt !== undefined) return now - session.provedAt < Math.max(PROOF_MS, freshFor * 1000)
    return session !== undefined && freshFor > 0 && now - session.record.createdAt < freshFor * 1000
  }

  /** Remembers a proof, and returns when it expires. */
  prove({ userId, token }: Login): Promise<number> {
    return this.#parts.store.sessions.changeState(userId, ({ sessions }, now) => {
      const own = sessions.find(({ record }) => record.token === token)
      const next = own && { sessions: sessions.map((one) => (one === own ? { ...own, provedAt: now } : one)) }
      return { result: now + PROOF_MS, next }
    })
  }

  /**
   * Checks a password. By default, five wrong ones are allowed in ten minutes in one session, and twenty in all sessions
   * of the user.
   *
   * @throws SessmgrError `store_unavailable`, also if `host.attempts` takes too long.
   */
  async tryPassword(request: RoutedRequest, reader: Login, password: string): Promise<PasswordResult> {
    const { verify, attempts = FIVE_IN_TEN_MINUTES } = this.#options
    if (!verify) return { kind: 'wrong' }
    const guess = await countGuess(this.#parts, request, reader.userId, countPassword(reader.token, attempts))
    if (guess.kind === 'often') return guess
    // Without a deadline, because `verify` may wait for a person to approve.
    if (!(await guess.check(() => verify(ownRequestOf(request), password)))) return { kind: 'wrong' }
    return { kind: 'right', until: await this.prove(reader) }
  }
}
