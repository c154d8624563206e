import { type Erasures, recordedName } from '../../auth/erasures.ts'
import { CallDeadline } from '../../ground/call-deadline.ts'
import { inBatches } from '../../ground/deadline.ts'
import { errorText, SessmgrError } from '../../ground/errors.ts'
import { type Logger, logFailure } from '../../ground/logger.ts'
import { bothTypes, type UserId } from '../../ground/user-id.ts'
import type { AuditCountQuery, AuditEvent, AuditPage, AuditQuery, AuditSink } from './audit-event.ts'
import { countByReading, type KnownCounts } from './event-counts.ts'
import { type EventPolicy, eventOf, eventPolicy, type NotedActivity } from './event-of.ts'
import { memorySink } from './memory-sink.ts'
import type { ResolvedAudit } from './resolve-audit-options.ts'

const MOST_IN_MEMORY = 100_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** How many events may wait while the sink is down. Beyond that, the oldest are dropped. */
const MOST_WAITING = 10_000
/** How many calls to the sink may hang at once. In a database, each occupies a connection of the application's pool. */
const MOST_LATE = 2

export interface RecorderParts {
  readonly audit: ResolvedAudit | undefined
  readonly deadlineMs: number
  readonly logger: Logger
  /** The marks of erased users. */
  readonly erasures?: Erasures | undefined
  /** Returns the activities noted since the last call, and how many were dropped. */
  takeNoted(): { readonly noted: readonly NotedActivity[]; readonly lost: number }
}

/** An event to write, and when its session was registered, by the store's clock. */
interface WaitingEvent {
  readonly event: AuditEvent
  readonly since: number | undefined
}

/** Writes the noted activities to the sink as events, and reads events from the sink. */
export class Recorder {
  readonly policy: EventPolicy
  /** Whether the events outlive this process. */
  readonly isKept: boolean
  readonly #parts: RecorderParts
  readonly #sink: AuditSink
  /** Keeps the last events for reading if the sink has no `read`. */
  readonly #memory: AuditSink | undefined
  readonly #calls: CallDeadline
  /** For calls to the store, which has the marks of erased users and may respond even if the sink hangs. */
  readonly #storeCalls: CallDeadline
  readonly #startedAt = Date.now()
  readonly #pruning: ReturnType<typeof setInterval> | undefined
  #waiting: readonly WaitingEvent[] = []
  /** The events of the last write, until it is certain that none of their users was erased meanwhile. */
  #written: readonly WaitingEvent[] = []
  /** Generation of the last erasure that has been applied to the events. */
  #generation: number | undefined
  /** Until when events may still be from before an erasure, by `performance.now()`. */
  #erasedUntil = 0
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
    this.#storeCalls = new CallDeadline(deadlineMs, 'store')
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
   * Writes everything noted so far. Events that cannot be written are retried at the next call.
   *
   * @throws SessmgrError `store_unavailable`
   */
  async write(): Promise<void> {
    const events: WaitingEvent[] = []
    const { noted, lost } = this.#parts.takeNoted()
    for (const one of noted) events.push({ event: await eventOf(one, this.policy), since: sinceOf(one) })
    const waiting = [...this.#waiting, ...events]
    this.#waiting = waiting.slice(-MOST_WAITING)
    // Without the `audit` option, dropped events do not matter, because memory keeps fewer events than the queue.
    if (this.#parts.audit) this.#dropped += lost + waiting.length - this.#waiting.length
    await this.#storeCalls.run(() => this.#followErasures())
    if (this.#waiting.length === 0) return
    const batch = this.#waiting.map(({ event }) => event)
    // The memory sink ignores events that it already has.
    await this.#memory?.write(batch)
    this.#written = [...this.#written, ...this.#waiting]
    try {
      await this.#calls.run(async () => this.#sink.write(batch))
    } catch (error) {
      this.#logFailing(error)
      throw error
    }
    this.#waiting = []
    this.#isDown = false
    this.#tellLost(0)
    // If this fails, the next write tries again.
    await this.#storeCalls.run(() => this.#followErasures()).catch(() => {})
  }

  /**
   * Deletes all events about or by a user, and returns their number. Resolves to null if the sink cannot delete them.
   *
   * @throws SessmgrError `store_unavailable`
   */
  async forget(userId: UserId): Promise<number | null> {
    let count = 0
    for (const name of this.namesOf(userId)) {
      await this.#memory?.forget?.(name)
      count += (await this.#forgetIn(name)) ?? 0
    }
    return this.#sink.forget ? count : null
  }

  /** Returns the names under which a user may have been recorded. */
  namesOf(userId: UserId): readonly UserId[] {
    return bothTypes(userId).flatMap((id) => this.policy.identify(id) ?? [])
  }

  /** Deletes events from the sink. Has no deadline, because a sink may have to read all its events. */
  async #forgetIn(name: UserId, before?: number): Promise<number | undefined> {
    try {
      return await this.#sink.forget?.(name, before)
    } catch (error) {
      throw new SessmgrError('store_unavailable', "The audit sink could not delete a user's events. Try again.", {
        cause: error,
      })
    }
  }

  /**
   * If users were erased since the last call, or shortly before, drops their waiting events, and deletes those that were
   * just written or are in this process's memory.
   */
  async #followErasures(): Promise<void> {
    const { erasures } = this.#parts
    if (!erasures) return
    const generation = await erasures.generation()
    if (generation !== this.#generation) this.#erasedUntil = performance.now() + erasures.quietMs
    if (generation > 0 && performance.now() < this.#erasedUntil) await this.#dropErased(erasures)
    this.#generation = generation
    this.#written = []
  }

  async #dropErased(erasures: Erasures): Promise<void> {
    const local = this.#memory ?? (this.#sink.local ? this.#sink : undefined)
    const kept = (await local?.read?.({ limit: MOST_IN_MEMORY }))?.events ?? []
    const events = [...this.#waiting, ...this.#written].map(({ event }) => event)
    const names = new Set([...events, ...kept].flatMap(({ user, actor }) => [user ?? [], actor ?? []].flat()))
    const marks = new Map<UserId, number>()
    await inBatches([...names], (batch) =>
      Promise.all(
        batch.map(async (name) => {
          const mark = await erasures.of(this.policy.hasIds ? name : recordedName(name))
          if (mark !== undefined) marks.set(name, mark)
        }),
      ),
    )
    if (marks.size === 0) return
    const ahead = await erasures.clockAhead()
    const isBefore = (at: number, name: UserId | undefined) => name !== undefined && at <= (marks.get(name) ?? 0)
    // Without a session, only the time of the event shows that a command may have begun before the erasure.
    const isErased = ({ event: { user, actor, at }, since = at - ahead - erasures.quietMs }: WaitingEvent) =>
      isBefore(since, user) || isBefore(at - ahead - erasures.quietMs, actor)
    this.#waiting = this.#waiting.filter((one) => !isErased(one))
    const written = this.#written.filter(isErased).map(({ event }) => event)
    for (const [name, at] of marks) {
      const own = written.filter(({ user, actor }) => user === name || actor === name)
      const before = Math.max(at + ahead, ...own.map((event) => event.at)) + 1
      await local?.forget?.(name, before)
      if (own.length > 0 && local !== this.#sink) await this.#forgetIn(name, before)
    }
  }

  /** Reads events, newest first. `since` is the time before which no events are known. */
  async read(query: AuditQuery): Promise<AuditPage & { readonly since: number }> {
    const page = await (this.#memory?.read?.(query) ?? this.#calls.run(async () => this.#sink.read?.(query)))
    const { events = [] } = page ?? {}
    const found = query.ip === undefined ? events : events.filter(({ ip }) => ip === query.ip)
    return { ...page, events: found, since: page?.since ?? this.#startedAt }
  }

  /** Counts the events of a period: in the sink if it can, or else by reading the latest. */
  async count(query: AuditCountQuery): Promise<KnownCounts> {
    const { count } = this.#memory ?? this.#sink
    if (!count) return countByReading((page) => this.read(page), query)
    const counts = await this.#calls.run(() => count.call(this.#sink, query))
    return { ...counts, since: counts.since ?? this.#startedAt, isWhole: true }
  }

  async close(): Promise<void> {
    clearInterval(this.#pruning)
    const { close } = this.#sink
    if (close) await this.#calls.run(() => close.call(this.#sink)).catch((error) => this.#logFailing(error))
    if (this.#parts.audit) this.#tellLost(this.#waiting.length)
  }

  #prune(retentionMs: number): void {
    const before = Math.floor((Date.now() - retentionMs) / DAY_MS) * DAY_MS
    this.#calls.run(async () => this.#sink.prune?.(before)).catch((error) => this.#logFailing(error))
  }

  /** Logs how many events were dropped, with `givenUp` more that will not be written. */
  #tellLost(givenUp: number): void {
    const count = this.#dropped + givenUp
    this.#dropped = 0
    if (count > 0) this.#log(`${count} events were lost. Too many came at once, or the audit sink was down.`)
  }

  #logFailing(error: unknown): void {
    if (this.#isDown) return
    this.#isDown = true
    this.#log('The activity could not be written to the audit sink. The write will be retried.', error)
  }

  #log(message: string, error?: unknown): void {
    const details = error === undefined ? undefined : { error: errorText(error, '') }
    logFailure(this.#parts.logger, message, details)
  }
}

function sinceOf({ activity }: NotedActivity): number | undefined {
  return activity[0] === 'session.started' || activity[0] === 'session.ended' ? activity[1].createdAt : undefined
}
