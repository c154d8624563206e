import type { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { requireUserId, type UserId } from '../../ground/user-id.ts'
import type { EndedByWhom } from '../../sessions/session-end.ts'
import type { StoredSession } from '../../sessions/session-record.ts'
import type { Token } from '../../sessions/token.ts'
import { isRegistered } from '../check-session.ts'
import { followUpEnd, namedActions } from '../follow-up-end.ts'
import type { LimiterContext } from '../limiter-context.ts'
import { endByWhom } from './end-by-whom.ts'

type Ended = readonly StoredSession[]

/**
 * Returns the function that ends all sessions of a user except one.
 *
 * @param carryOut Calls the function that it receives, which ends the sessions.
 */
export function endOthers(
  context: LimiterContext,
  carryOut: (userId: UserId, end: () => Promise<Ended>) => Promise<Ended>,
): (userId: UserId, keepToken: Token, whom?: EndedByWhom) => Promise<number> {
  const { store } = context
  return async (userId, keepToken, whom) => {
    requireUserId(userId)
    const end = endByWhom(whom)
    if (!(await isRegistered(store, userId, keepToken))) throw notTheirs()
    const ending = carryOut(
      userId,
      async () => (await store.sessions.endOthers(userId, keepToken)) ?? Promise.reject(notTheirs()),
    )
    return (await followUpEnd(context, ending, () => end, namedActions)).length
  }
}

function notTheirs(): SessmgrError {
  return invalidOption(
    'The session to keep is not a live session of this user; nothing was ended. Pass request.sessmgr.session.token. ' +
      'If that session has ended, call endAll()',
  )
}
