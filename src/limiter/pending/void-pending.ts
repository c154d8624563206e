import { messageOf } from '../../ground/error-text.ts'
import { warn } from '../../ground/logger.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { LimiterContext } from '../limiter-context.ts'

/** Longest time that a pending login may wait for the user's choice. */
export const MOST_PENDING_MS = 900_000
/** The mark must outlive the pending logins that it makes void, and the count of their choices. */
const MARK_MS = 86_400_000

/** Key of a mark that changes whenever the pending logins of a user become void. */
const markKey = (userId: UserId): string => `pending:void:${userId}`

/** Invalidates a user's pending logins, for example after a password change. */
export function voidPending({ transients }: Pick<SessmgrStore, 'transients'>, userId: UserId): Promise<void> {
  return transients.set(markKey(userId), nodeCrypto().randomBytes(9).toString('base64url'), MARK_MS)
}

/**
 * Invalidates a user's pending logins, and then ends sessions of the user.
 *
 * Sessions also end if the store accepts no mark, for example because its memory is full. The mark is then tried again.
 */
export async function endWithPending<Ended>(
  { store, logger }: Pick<LimiterContext, 'store' | 'logger'>,
  userId: UserId,
  end: () => Promise<Ended>,
): Promise<Ended> {
  const isMarked = await voidPending(store, userId).then(
    () => true,
    () => false,
  )
  const ended = await end()
  if (isMarked) return ended
  await voidPending(store, userId).catch((reason) => {
    const message = 'Logins that wait for the choice of their user could not be made void. They expire in minutes.'
    warn(logger, 'a-store-call-failed', message, { error: messageOf(reason) })
  })
  return ended
}

/** Reads the current mark of a user. A pending login is void once the mark is not the one with which it was opened. */
export function pendingMark(
  { transients }: Pick<SessmgrStore, 'transients'>,
  userId: UserId,
): Promise<string | undefined> {
  return transients.get(markKey(userId))
}
