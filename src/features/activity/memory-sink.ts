import { type Declared, resolveDeclared, whole } from '../../ground/option-checks.ts'
import { type AuditEvent, type AuditSink, checkCursor, isOf, pageOf } from './audit-event.ts'

/** Options of memorySink(). */
export interface MemorySinkOptions {
  /** How many events to keep, from 1 to 100,000. @default 1000 */
  readonly limit?: number | undefined
}

const OPTIONS = { limit: [whole(1, 100_000), 1000] } as const satisfies Declared<MemorySinkOptions>

/**
 * Creates the default sink, which keeps the last events in the memory of this process.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 *
 * @example
 * ```ts
 * app.use(sessmgr({ audit: { sink: memorySink({ limit: 10_000 }) } }))
 * ```
 */
export function memorySink(options: MemorySinkOptions = {}): AuditSink & Required<Pick<AuditSink, 'forget'>> {
  const { limit: most } = resolveDeclared(OPTIONS, options, { caller: 'memorySink' })
  const created = Date.now()
  let kept: readonly AuditEvent[] = []
  /** How many events were dropped. Positions include them, so that the position of an event never changes. */
  let gone = 0

  function keep(events: readonly AuditEvent[]): void {
    gone += kept.length - events.length
    kept = events
  }

  function* newestFirst(cursor: string | undefined) {
    const [events, before] = [kept, gone]
    const end = Math.min(cursor === undefined ? events.length : Number(cursor) - before, events.length)
    for (let index = end - 1; index >= 0; index -= 1) {
      yield { event: events[index], next: index > 0 ? String(index + before) : undefined }
    }
  }

  return {
    local: true,
    async write(events) {
      const known = new Set(kept.map(({ id }) => id))
      kept = [...kept, ...events.filter(({ id }) => !known.has(id))]
      keep(kept.slice(-most))
    },
    async read(query) {
      checkCursor(query.cursor, /^\d{1,15}$/)
      const oldest = kept[0]?.at ?? created
      const page = await pageOf(newestFirst(query.cursor), query)
      return { ...page, since: gone > 0 ? oldest : Math.min(created, oldest) }
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
