import type { UserId } from '../../ground/user-id.ts'
import { createUserQueue } from '../../limiter/user-queue.ts'

/** How long a login may keep the next one of the same request waiting: one that is started within another cannot wait for it. */
const HOLD_MS = 250

/** A login whose user is known and whose session is not registered yet. */
export interface LoginUnderWay {
  readonly userId: UserId
  /** The id of the session that the visitor came with; a host gives the login another. */
  readonly sessionId: string
}

/**
 * Knows the requests that are logging somebody in.
 *
 * Where the host regenerates the session meanwhile, the one that the visitor came with stays in its store and its slot:
 * another login must not take it for lost, and a refused one leaves it as it was.
 */
export class LoginsUnderWay {
  /** Several logins that a request starts at once take turns: each goes on with the session that the one before has made. */
  readonly inTurn = createUserQueue<object>(HOLD_MS)
  readonly #logins = new WeakMap<object, LoginUnderWay>()

  of(request: object | undefined): LoginUnderWay | undefined {
    return request && this.#logins.get(request)
  }

  /** Runs the login of a request. */
  async run<T>(request: object, login: LoginUnderWay, run: () => Promise<T>): Promise<T> {
    this.#logins.set(request, login)
    try {
      return await run()
    } finally {
      this.#logins.delete(request)
    }
  }
}
