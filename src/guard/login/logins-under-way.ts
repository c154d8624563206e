import { createUserQueue } from '../../limiter/user-queue.ts'
import { type LoginUnderWay, Standing } from '../request/standing.ts'

/** How long a login may keep the next one of the same request waiting: one that is started within another cannot wait for it. */
const HOLD_MS = 250

/**
 * Knows the requests that are logging somebody in.
 *
 * Where the host regenerates the session meanwhile, the one that the visitor came with stays in its store and its slot:
 * another login must not take it for lost, and a refused one leaves it as it was.
 */
export class LoginsUnderWay {
  /** Several logins that a request starts at once take turns: each goes on with the session that the one before has made. */
  readonly inTurn = createUserQueue<object>(HOLD_MS)

  of(request: object | undefined): LoginUnderWay | undefined {
    return Standing.of(request)?.login
  }

  /** Runs the login of a request. */
  async run<T>(request: object, login: LoginUnderWay, run: () => Promise<T>): Promise<T> {
    const standing = Standing.at(request)
    standing.login = login
    try {
      return await run()
    } finally {
      standing.login = undefined
    }
  }
}
