import { setTimeout as sleep } from 'node:timers/promises'
import { LEAST_ERASURE_MS, recordedName } from '../../auth/erasures.ts'
import { bothTypes, requireUserId, type UserId } from '../../ground/user-id.ts'
import type { EndedByWhom } from '../../sessions/session-end.ts'
import type { LimiterContext } from '../limiter-context.ts'
import { allSessionsOf, endByWhom, reportEnds } from './end-sessions.ts'

/** What was erased. */
export interface ErasedUser {
  /** How many sessions ended. */
  readonly sessions: number
  /** How many application passwords were removed. */
  readonly passwords: number
  /** How many events of the activity log were deleted. Null if the sink cannot delete the events of one user. */
  readonly events: number | null
}

/** Access to what other parts of the service have stored about users. */
export interface OtherTraces {
  /** Returns the names, other than ids, under which the activity log may have recorded a user. */
  recordedNames(userId: UserId): Promise<readonly UserId[]>
  /** Deletes a user's events, and returns how many there were. Null if the sink cannot do that. */
  forgetEvents(userId: UserId): Promise<number | null>
  /** Removes a user's application passwords, and returns how many there were. */
  forgetPasswords(userId: UserId): Promise<number>
  /** Removes a user from the memory of this process. */
  forgetInMemory(userId: UserId): void
}

/**
 * Ends all sessions of a user, and removes the user's data.
 *
 * While this is running, no login of the user is admitted, so whatever is found belongs to the erased user. The erasure
 * leaves a mark, so that no process writes anything older about the user.
 */
export async function eraseUser(
  context: LimiterContext,
  others: OtherTraces,
  userId: UserId,
  whom?: EndedByWhom,
): Promise<ErasedUser> {
  requireUserId(userId)
  const end = endByWhom(whom)
  const { store, erasures, notes, facts } = context
  const names = [userId, ...(await others.recordedNames(userId)).map(recordedName)]
  let erasure = await erasures.begin(userId)
  const begunAt = performance.now()
  let result: ErasedUser
  try {
    const ending = async () => {
      const { ended, sequence, at } = await store.sessions.erase(userId)
      erasure = { ...erasure, sequence, at }
      return ended
    }
    const endingNoted = async () => {
      const ended = await ending()
      await erasures.note(names, erasure)
      return ended
    }
    const ended = await reportEnds(context, endingNoted(), end, allSessionsOf(userId))
    await notes.forget(userId)
    const passwords = await others.forgetPasswords(userId)
    await facts.directory?.then((it) => it.flush()).catch(() => {})
    // The time is later than any login, so that the index drops the user.
    const gone = bothTypes(userId).map((id) => ({ userId: id, at: Number.MAX_SAFE_INTEGER, live: 0 }))
    await store.people.note(gone)
    const events = await others.forgetEvents(userId)
    others.forgetInMemory(userId)
    // After this pause, every call that read the mark before the erasure began has its answer, or is refused.
    await sleep(Math.max(0, LEAST_ERASURE_MS - (performance.now() - begunAt)))
    // A login that is about to be undone may have registered a session in the meantime.
    await reportEnds(context, ending(), end)
    result = { sessions: ended.length, passwords, events }
  } finally {
    await erasures.note(names, { ...erasure, isRunning: false })
  }
  // From now on, no process writes events about the erased user. Delete the events written until now.
  const late = await others.forgetEvents(userId)
  if (result.events !== null) result = { ...result, events: result.events + (late ?? 0) }
  const { by, actor } = { by: whom?.by, actor: end.by?.actor }
  const isOwn = actor !== undefined && String(actor) === String(userId)
  const erasedBy = { ...(by === 'admin' && { by }), ...(actor !== undefined && !isOwn && { actor }) }
  facts.report([['sessmgr_user_erased', userId]], ['user.erased', { ...erasedBy, sessions: result.sessions }])
  return result
}
