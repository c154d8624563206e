import type { LimitContext } from '../../strategies/limit-strategy.ts'
import { neededSlots } from '../../strategies/slots.ts'
import { readerDuration, readerTimes } from '../../texts/reader-times.ts'
import type { Say } from '../../texts/texts-for.ts'

const MINUTE_MS = 60_000

/** Words the refusal of a login with the time at which enough sessions will be over or unused for long enough. */
export function releaseMessage(say: Say, { context, label }: { context: LimitContext; label?: string }): string {
  const { sessions, maximum, now, idleAfterMs } = context
  const free = sessions.map(({ lastSeenAt, expiresAt }) => Math.min(lastSeenAt + idleAfterMs, expiresAt))
  const at = free.toSorted((a, b) => a - b)[neededSlots(context) - 1] ?? now
  const { isToday, time, exact } = readerTimes(say, now)(Math.ceil(at / MINUTE_MS) * MINUTE_MS)
  const values = { maximum, time: isToday ? time : exact, idle: readerDuration(say, idleAfterMs) }
  const key = label === undefined ? 'login_blocked_idle' : 'login_blocked_kind_idle'
  return say(`${key}_${maximum === 1 ? 'one' : 'other'}`, values)
}
