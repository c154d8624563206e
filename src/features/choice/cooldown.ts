import type { UserId } from '../../ground/user-id.ts'
import { pendingMark } from '../../limiter/pending/void-pending.ts'
import { createUserQueue } from '../../limiter/user-queue.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { ChoiceCooldown } from './resolve-choice-options.ts'

const HOLD_MS = 5000

/** The user's mark when the choices were made, and their times. */
type Choices = readonly [mark: string | null, times: readonly number[]]

/**
 * Limits how often a user may choose, so that two people who know one password cannot sign each other out forever. The
 * count starts again after a password change.
 */
export class Cooldown {
  readonly #store: SessmgrStore
  readonly #options: ChoiceCooldown | undefined
  readonly #inTurn = createUserQueue(HOLD_MS)

  constructor(store: SessmgrStore, options: ChoiceCooldown | undefined) {
    this.#store = store
    this.#options = options
  }

  /** Returns when the user may choose again, or undefined if they may now. */
  async until(userId: UserId): Promise<number | undefined> {
    if (!this.#options) return undefined
    const { count, minutes } = this.#options
    const [, times] = await this.#recent(userId)
    const first = times.at(-count)
    return first === undefined ? undefined : first + minutes * 60_000
  }

  /** Counts a choice. */
  async note(userId: UserId): Promise<void> {
    const { count, minutes } = this.#options ?? { count: 0, minutes: 0 }
    if (count === 0) return
    await this.#inTurn(String(userId), async () => {
      const [mark, times] = await this.#recent(userId)
      const choices: Choices = [mark, [...times, Date.now()].slice(-count)]
      await this.#store.transients.set(keyOf(userId), JSON.stringify(choices), minutes * 60_000)
    })
  }

  async #recent(userId: UserId): Promise<Choices> {
    const { transients } = this.#store
    const [text, mark] = await Promise.all([transients.get(keyOf(userId)), pendingMark(this.#store, userId)])
    const [before, times] = text === undefined ? [mark ?? null, []] : (JSON.parse(text) as Choices)
    // The mark outlives the choices, so a missing mark was older than they are.
    const isSame = mark === undefined || mark === before
    const since = Date.now() - (this.#options?.minutes ?? 0) * 60_000
    return [mark ?? before, isSame ? times.filter((at) => at > since) : []]
  }
}

const keyOf = (userId: UserId): string => `pending:choices:${userId}`
