import { BoundedMap } from '../../ground/bounded-map.ts'
import { messageOf } from '../../ground/errors.ts'
import { type Logger, logFailure } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/session-record.ts'
import type { Step } from './user-document.ts'

/** How often a process writes the uses of one user's sessions, at most. */
const EVERY_MS = 1000
/** How many users with a recent write to remember. */
const MOST_USERS = 1000

type Write = (userId: UserId, tokens: readonly Token[], step: Step<boolean>) => Promise<boolean>

/** Uses of one user's sessions that have not been written yet. */
interface Waiting {
  readonly userId: UserId
  readonly steps: Map<Token, Step<boolean>>
  readonly timer: ReturnType<typeof setTimeout>
}

/** Writes the uses of a user's sessions together, because each write rewrites the whole row. */
export class SharedUses {
  readonly #logger: Logger
  readonly #write: Write
  /** When a use was last written, by user. */
  readonly #writtenAt = new BoundedMap<string, number>(MOST_USERS)
  readonly #waiting = new Map<string, Waiting>()

  constructor(logger: Logger, write: Write) {
    this.#logger = logger
    this.#write = write
  }

  /** Checks whether a use can be written at once. */
  isDue(userId: UserId): boolean {
    return this.#dueIn(String(userId)) <= 0
  }

  #dueIn(user: string): number {
    return (this.#writtenAt.get(user) ?? Number.NEGATIVE_INFINITY) + EVERY_MS - performance.now()
  }

  /** Writes uses at once. */
  write(userId: UserId, tokens: readonly Token[], step: Step<boolean>): Promise<boolean> {
    this.#writtenAt.set(String(userId), performance.now())
    return this.#write(userId, tokens, step)
  }

  /** Writes a use later, together with others. A failure is only logged. */
  add(userId: UserId, token: Token, step: Step<boolean>): void {
    const user = String(userId)
    let waiting = this.#waiting.get(user)
    if (!waiting) {
      const timer = setTimeout(() => void this.#writeWaiting(user), Math.max(0, this.#dueIn(user)))
      timer.unref()
      waiting = { userId, steps: new Map(), timer }
      this.#waiting.set(user, waiting)
    }
    const usedAt = performance.now()
    // The use counts from when it was, not from when it is written.
    waiting.steps.set(token, (document, moment) =>
      step(document, { ...moment, now: moment.now - Math.round(performance.now() - usedAt) }),
    )
  }

  async #writeWaiting(user: string): Promise<void> {
    const waiting = this.#waiting.get(user)
    if (!waiting) return
    const { userId, steps, timer } = waiting
    clearTimeout(timer)
    this.#waiting.delete(user)
    const all: Step<boolean> = (document, moment) => {
      let latest = document
      for (const step of steps.values()) latest = step(latest, moment).next ?? latest
      return { result: true, next: latest === document ? undefined : latest }
    }
    await this.write(userId, [...steps.keys()], all).catch((error) => {
      const message = "The last uses of a user's sessions could not be saved, so the sessions may expire early."
      logFailure(this.#logger, message, { error: messageOf(error) })
    })
  }

  /** Writes all uses that are waiting. */
  async writeAll(): Promise<void> {
    await Promise.all([...this.#waiting.keys()].map((user) => this.#writeWaiting(user)))
  }
}
