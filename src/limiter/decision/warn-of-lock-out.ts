import { type Logger, warn } from '../../ground/logger.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'
import type { LimiterContext } from '../limiter-context.ts'

/** Users locked out for a day or less need no other way in. */
const LONG_MS = 24 * 60 * 60_000
const warned = new WeakSet<Logger>()

/** Warns once if users who lose a session cookie cannot log in again until that session expires. */
export function warnOfLockOut(
  { logger }: LimiterContext,
  { logic, idle_release, enforce }: SessionSettings,
  { at, lifeMs, device }: { at: number; lifeMs: number; device?: string | null | undefined },
): void {
  const locksOut = logic === 'block' && enforce && idle_release === 0 && !device && lifeMs > LONG_MS
  if (!locksOut || warned.has(logger)) return
  warned.add(logger)
  const date = new Date(at + lifeMs).toISOString().slice(0, 10)
  warn(
    logger,
    'block-without-a-way-out',
    `Mode block without idle_release: a browser that was closed without signing out keeps its slot until ${date}. ` +
      'Set idle_release or the option device.',
  )
}
