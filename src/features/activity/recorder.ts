import { CallDeadline } from '../../ground/call-deadline.ts'
import { errorText } from '../../ground/error-text.ts'
import { type Logger, warn } from '../../ground/logger.ts'
import type { AuditEvent, AuditPage, AuditQuery, AuditSink } from './audit-event.ts'
import { eventOf, type NotedActivity } from './event-of.ts'
import { type EventPolicy, eventPolicy } from './event-policy.ts'
import type { ResolvedAudit } from './resolve-audit-options.ts'
import { memorySink } from './sinks/memory-sink.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** How many events may wait while the sink is down. Beyond that, the oldest are dropped. */
const MOST_WAITING = 10_000
/** How many calls of the sink may hang. In a database, each holds a connection of the application's pool. */
const MOST_LATE = 2
/** How many pages of refusals to count. */
const MOST_PAGES = 20

export interface RecorderParts {
  readonly audit: ResolvedAudit | undefined
  readonly deadlineMs: number
  readonly logger: Logger
  /** Takes the activities that have been noted since the last call, and the number of those that were dropped. */
  takeNoted(): { readonly noted: readonly NotedActivity[]; readonly lost: number }
}

/** Writes what was noted to the sink, and reads the events back. */
export class Recorder {
  readonly policy: EventPolicy
  /** Whether the events outlive this process. */
  readonly isKept: boolean
  readonly #parts: RecorderParts
  readonly #sink: AuditSink
  /** Set if the sink cannot be read. */
  readonly #memory: AuditSink | undefined
  readonly #calls: CallDeadline
  readonly #startedAt = Date.now()
  readonly #pruning: ReturnType<typeof setInterval> | undefined
  #waiting: readonly AuditEvent[] = []
  #dropped = 0
  #isDown = false

  constructor(parts: RecorderParts) {
    const { audit, deadlineMs } = parts
    this.#parts = parts
    this.#sink = audit?.sink ?? memorySink()
    this.#memory = this.#sink.read ? undefined : memorySink()
    this.isKept = this.#sink.read !== undefined && this.#sink.local !== true
    this.policy = eventPolicy(audit ?? { ip: 'full', identify: 'id' }, parts.logger)
    this.#calls = new CallDeadline(deadlineMs, 'audit sink', { mostLate: MOST_LATE })
    if (!audit || !this.#sink.prune) return
    const prune = () => this.#prune(audit.retentionMs)
    prune()
    this.#pruning = setInterval(prune, HOUR_MS).unref()
  }

  /** Whether events wait for another attempt. */
  get isBehind(): boolean {
    return this.#waiting.length > 0
  }

  /**
   * Writes everything noted so far. What could not be written is written again at the next call.
   *
   * @throws SessmgrError `store_unavailable`
   */
  async write(): Promise<void> {
    const events: AuditEvent[] = []
    const { noted, lost } = this.#parts.takeNoted()
    for (const one of noted) events.push(await eventOf(one, this.policy))
    await this.#memory?.write(events)
    const waiting = [...this.#waiting, ...events]
    this.#waiting = waiting.slice(-MOST_WAITING)
    // Without the option `audit`, fewer events are kept than can be noted.
    if (this.#parts.audit) this.#dropped += lost + waiting.length - this.#waiting.length
    if (this.#waiting.length === 0) return
    const batch = this.#waiting
    try {
      await this.#calls.run(() => this.#sink.write(batch))
    } catch (error) {
      this.#warnOnce(error)
      throw error
    }
    this.#waiting = []
    this.#isDown = false
    this.#tellLost(0)
  }

  /** Reads events, newest first. `since` is the earliest time from which events can be known. */
  async read(query: AuditQuery): Promise<AuditPage & { readonly since: number }> {
    const page = await (this.#memory?.read?.(query) ?? this.#calls.run(async () => this.#sink.read?.(query)))
    return { events: [], ...page, since: page?.since ?? this.#startedAt }
  }

  /** Counts the refused logins since a time. Resolves to null if this is unknown, or too many to count. */
  async refusedSince(from: number): Promise<number | null> {
    let count = 0
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const { events, next } = await this.read({ type: 'login.refused', from, limit: 500, cursor })
      count += events.length
      if (next === undefined) return count
      cursor = next
    }
    return null
  }

  async close(): Promise<void> {
    clearInterval(this.#pruning)
    const { close } = this.#sink
    if (close) await this.#calls.run(() => close.call(this.#sink)).catch((error) => this.#warnOnce(error))
    if (this.#parts.audit) this.#tellLost(this.#waiting.length)
  }

  #prune(retentionMs: number): void {
    const before = Math.floor((Date.now() - retentionMs) / DAY_MS) * DAY_MS
    this.#calls.run(async () => this.#sink.prune?.(before)).catch((error) => this.#warnOnce(error))
  }

  /** Warns of the events that were dropped, and of those that are given up. */
  #tellLost(givenUp: number): void {
    const count = this.#dropped + givenUp
    this.#dropped = 0
    if (count > 0) this.#warn(`${count} events were lost. Too many came at once, or the audit sink was down.`)
  }

  #warnOnce(error: unknown): void {
    if (this.#isDown) return
    this.#isDown = true
    this.#warn('The activity could not be written to the audit sink, and is written again later.', error)
  }

  #warn(message: string, error?: unknown): void {
    const details = error === undefined ? undefined : { error: errorText(error, '') }
    warn(this.#parts.logger, 'activity-not-recorded', message, details)
  }
}
