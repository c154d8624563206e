import type { UserId } from '../../ground/user-id.ts'
import type { EndedByWhom } from '../../sessions/session-end.ts'
import type { Token } from '../../sessions/token.ts'
import { followUpEnd, namedActions } from '../follow-up-end.ts'
import type { LimiterContext } from '../limiter-context.ts'
import { endByWhom } from './end-by-whom.ts'

/**
 * Ends several sessions of a user in one step, and returns how many were live until then. Fires `sessmgr_destroy_session`
 * for each.
 *
 * @throws SessmgrError `store_unavailable`; sessions may or may not have ended.
 */
export async function endSeveral(
  context: LimiterContext,
  userId: UserId,
  tokens: readonly Token[],
  whom: EndedByWhom,
): Promise<number> {
  const { sessions, epoch } = context.store
  const end = endByWhom(whom)
  const [read, generation] = await Promise.all([sessions.read(userId), epoch.current()])
  // Compare whole tokens, because a store may use only a part of each.
  const live = read.sessions.filter(({ record }) => record.generation >= generation && tokens.includes(record.token))
  if (live.length === 0) return 0
  const ending = sessions.end(
    userId,
    live.map(({ record }) => record.token),
  )
  return (await followUpEnd(context, ending, () => end, namedActions)).length
}
