import { readerDuration, readerTimes } from '../../texts/reader-times.ts'
import type { Say } from '../../texts/texts-for.ts'
import type { DecidedLimit } from './evaluate-login.ts'

const MINUTE_MS = 60_000

/** Words the refusal of a login with the time at which there will be room for it, rounded up to minutes. */
export function releaseMessage(
  say: Say,
  { context, label }: Pick<DecidedLimit, 'context' | 'label'>,
  at: number,
): string {
  const { maximum, now, idleAfterMs } = context
  const { isToday, time, exact } = readerTimes(say, now)(Math.ceil(at / MINUTE_MS) * MINUTE_MS)
  const values = { maximum, time: isToday ? time : exact, idle: readerDuration(say, idleAfterMs) }
  const key = label === undefined ? 'login_blocked_idle' : 'login_blocked_kind_idle'
  return say(`${key}_${maximum === 1 ? 'one' : 'other'}`, values)
}
