import { messageOf } from '../../ground/error-text.ts'
import { warn } from '../../ground/logger.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'
import type { UserId } from '../../ground/user-id.ts'
import { dropTransient } from '../../options/transient-store.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { LimiterContext } from '../limiter-context.ts'
import { canSwap, changeString } from '../reservations.ts'

type WithTransients = Pick<SessmgrStore, 'transients'>

/** Longest time that a pending login may wait for the user's choice. */
export const MOST_PENDING_MS = 900_000
/** The mark must outlive the pending logins that were opened with it, and the count of their choices. */
const MARK_MS = 86_400_000 + MOST_PENDING_MS

/** Key of a mark that changes whenever the pending logins of a user become void. */
export const markKey = (userId: UserId): string => `pending:void:${userId}`

const random = (): string => nodeCrypto().randomBytes(9).toString('base64url')

/**
 * Returns the part of a mark that stays while the user's password does. When users sign out their other devices,
 * nothing shows that their password has changed.
 */
export const passwordMark = (mark: string | null): string => mark?.split('.')[0] ?? ''

/** Invalidates a user's pending logins, for example after a password change. */
export function voidPending({ transients }: WithTransients, userId: UserId): Promise<void> {
  return transients.set(markKey(userId), `${random()}.${random()}`, MARK_MS)
}

/** Invalidates a user's pending logins while the password stays, so that choices with a cooldown count on. */
export async function voidPendingOnly({ transients }: WithTransients, userId: UserId): Promise<void> {
  const before = await transients.get(markKey(userId))
  const kept = passwordMark(before ?? random())
  await transients.set(markKey(userId), `${kept}.${random()}`, MARK_MS)
}

/**
 * Invalidates a user's pending logins, and then ends sessions of the user.
 *
 * Sessions also end if the store accepts no mark, for example because its memory is full. The mark is then tried again.
 *
 * @param invalidate Writes the mark.
 */
export async function endWithPending<Ended>(
  { store, logger, erasures }: Pick<LimiterContext, 'store' | 'logger' | 'erasures'>,
  userId: UserId,
  end: () => Promise<Ended>,
  invalidate: typeof voidPending = voidPending,
): Promise<Ended> {
  const before = await erasures.before(userId).catch(() => undefined)
  const isMarked = await invalidate(store, userId).then(
    () => true,
    () => false,
  )
  const ended = await end()
  // The call leaves marks. If the user was erased meanwhile, nothing may be left.
  const wasErased = before && (await erasures.hasChanged(userId, before).catch(() => false))
  if (wasErased) {
    await store.sessions.erase?.(userId, []).catch(() => {})
    await dropTransient(store.transients, markKey(userId)).catch(() => {})
  }
  if (isMarked || wasErased) return ended
  await invalidate(store, userId).catch((reason) => {
    const message = 'Logins that wait for the choice of their user could not be made void. They expire in minutes.'
    warn(logger, 'a-store-call-failed', message, { error: messageOf(reason) })
  })
  return ended
}

/** Reads the current mark of a user. A pending login is void once the mark is not the one with which it was opened. */
export function pendingMark({ transients }: WithTransients, userId: UserId): Promise<string | undefined> {
  return transients.get(markKey(userId))
}

/**
 * Returns the mark with which a pending login is opened, and makes it last. Writes one if there is none, so that a mark
 * that the store has lost makes the login void.
 */
export async function markPending({ transients }: WithTransients, userId: UserId): Promise<string | null> {
  // Only an atomic write cannot replace the mark of a password change at the same moment.
  if (!canSwap(transients)) return (await transients.get(markKey(userId))) ?? null
  let mark = ''
  await changeString(transients, markKey(userId), MARK_MS, (before) => {
    // An empty mark could not be read.
    mark = before || `${random()}.${random()}`
    return mark
  })
  return mark
}
