import { recordedName } from '../../auth/erasures.ts'
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
 * Commands that may have begun before are refused for a while. The erasure leaves a mark, so that no process writes
 * anything older about the user.
 */
export async function eraseUser(
  context: LimiterContext,
  others: OtherTraces,
  userId: UserId,
  whom?: EndedByWhom,
): Promise<ErasedUser> {
  requireUserId(userId)
  const end = endByWhom(whom)
  const { store, erasures, notes, events } = context
  const names = [userId, ...(await others.recordedNames(userId)).map(recordedName)]
  const before = await others.forgetEvents(userId)
  await erasures.mark(names, (await store.sessions.read(userId)).now)
  let erasedAt = 0
  const erasing = async () => {
    const { ended, at } = await store.sessions.erase(userId)
    erasedAt = at
    return ended
  }
  const { length: sessions } = await reportEnds(context, erasing(), end, allSessionsOf(userId))
  // Logins may have been admitted since the first mark.
  await erasures.mark(names, erasedAt)
  await notes.forget(userId)
  const passwords = await others.forgetPasswords(userId)
  await events.directory?.then((it) => it.flush()).catch(() => {})
  // The time is later than any login, so that the index drops the user.
  const gone = bothTypes(userId).map((id) => ({ userId: id, at: Number.MAX_SAFE_INTEGER, live: 0 }))
  await store.people.note(gone)
  others.forgetInMemory(userId)
  const late = await others.forgetEvents(userId)
  const { by, actor } = { by: whom?.by, actor: end.by?.actor }
  const isOwn = actor !== undefined && String(actor) === String(userId)
  const erasedBy = { ...(by === 'admin' && { by }), ...(actor !== undefined && !isOwn && { actor }) }
  await events.report([{ type: 'erased', userId, erasure: { ...erasedBy, sessions } }])
  return { sessions, passwords, events: before === null ? null : before + (late ?? 0) }
}
