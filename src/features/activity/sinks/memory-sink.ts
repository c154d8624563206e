import { requireOptions, requireWhole } from '../../../ground/option-checks.ts'
import type { AuditEvent, AuditSink } from '../audit-event.ts'
import { checkCursor, isOf, matchesQuery } from './event-query.ts'

export interface MemorySinkOptions {
  /** How many events to keep, from 1 to 100,000. @default 1000 */
  readonly limit?: number | undefined
}

/**
 * Keeps the last events in the memory of this process. This is the default.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 */
export function memorySink(options: MemorySinkOptions = {}): AuditSink & Required<Pick<AuditSink, 'forget'>> {
  requireOptions('memorySink', options, ['limit'])
  const { limit: most = 1000 } = options
  requireWhole('limit', most, 1, 100_000)
  let kept: readonly AuditEvent[] = []
  /** How many events are gone. The position of an event counts them as well, so that it never changes. */
  let gone = 0

  function keep(events: readonly AuditEvent[]): void {
    gone += kept.length - events.length
    kept = events
  }

  return {
    local: true,
    async write(events) {
      const known = new Set(kept.map(({ id }) => id))
      kept = [...kept, ...events.filter(({ id }) => !known.has(id))]
      keep(kept.slice(-most))
    },
    async read({ limit, cursor, ...query }) {
      checkCursor(cursor, /^\d{1,15}$/)
      const events: AuditEvent[] = []
      let index = Math.min(cursor === undefined ? kept.length : Number(cursor) - gone, kept.length)
      for (; index > 0 && events.length < limit; index--) {
        const event = kept[index - 1] as AuditEvent
        if (matchesQuery(event, query)) events.push(event)
      }
      return {
        events,
        ...(index > 0 && { next: String(index + gone) }),
        ...(gone > 0 && { since: kept[0]?.at }),
      }
    },
    async prune(before) {
      keep(kept.filter(({ at }) => at >= before))
    },
    async forget(user, before) {
      const rest = kept.filter((event) => !isOf(event, user, before))
      const count = kept.length - rest.length
      keep(rest)
      return count
    },
  }
}
