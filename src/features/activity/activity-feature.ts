import type { Erasures } from '../../auth/erasures.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { Logger } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { ActivityLog } from '../../limiter/facts.ts'
import type { NotedActivity } from './event-of.ts'
import type { Recorder, RecorderParts } from './recorder.ts'
import type { ResolvedAudit } from './resolve-audit-options.ts'

/** How long events may wait to be written together, and how many. */
const BATCH_MS = 1000
const BATCH = 100
/** How many activities may wait for the recorder. */
const MOST_NOTED = 10_000

interface ActivityParts {
  readonly audit: ResolvedAudit | undefined
  readonly deadlineMs: number
  readonly logger: Logger
  /** The marks of erased users. */
  readonly erasures?: Erasures | undefined
}

/** The activity log, as the service uses it. */
export interface ActivityFeature {
  /** Receives what happens. */
  readonly log: ActivityLog
  /** Starts to record, if it has not started yet. Without the `audit` option, only the REST routes need a record. */
  start(): void
  /** Returns the recorder, after it has tried to write everything noted so far. */
  recorder(): Promise<Recorder>
  /**
   * Deletes the events about and by a user, including waiting ones. Resolves to null if the sink cannot do that.
   *
   * @throws SessmgrError `store_unavailable`
   */
  forget(userId: UserId): Promise<number | null>
  /** Returns the names under which a user may have been recorded, unless these are the ids. */
  recordedNames(userId: UserId): Promise<readonly UserId[]>
  /** Counts the refused logins since a time, in milliseconds. Resolves to null if this is unknown. */
  refusedSince(ms: number): Promise<number | null>
  /** Writes what is left, and closes the sink. */
  close(): Promise<void>
}

/** The activities that wait for the recorder. When there are too many, the oldest are dropped. */
class NotedQueue {
  #noted: NotedActivity[] = []
  #lost = 0

  get size(): number {
    return this.#noted.length
  }

  add(noted: NotedActivity): void {
    if (this.#noted.length >= MOST_NOTED) {
      this.#noted.shift()
      this.#lost += 1
    }
    this.#noted.push(noted)
  }

  /** Empties the queue, and returns its activities and how many were dropped. */
  take() {
    const taken = { noted: this.#noted, lost: this.#lost }
    this.#noted = []
    this.#lost = 0
    return taken
  }
}

/**
 * Creates the activity log. With the `audit` option, it starts at once.
 *
 * @param load Loads the code that records.
 */
export function createActivity(
  { audit, deadlineMs, logger, erasures }: ActivityParts,
  load: (parts: RecorderParts) => Promise<Recorder>,
): ActivityFeature {
  const queue = new NotedQueue()
  let isOn = false
  let loading: Promise<Recorder> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> | undefined

  function recorder(): Promise<Recorder> {
    loading ??= load({ audit, deadlineMs, logger, erasures, takeNoted: () => queue.take() })
    return loading
  }

  /** Writes everything noted so far. A write in progress may have begun earlier, so call it again then. */
  function write(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing ??= recorder()
      .then((late) => late.write())
      .finally(async () => {
        writing = undefined
        if (queue.size > 0 || (await recorder()).isBehind) wake()
      })
    return writing
  }

  const writeLater = () => void write().catch(() => {})

  function wake(): void {
    timer ??= setTimeout(writeLater, BATCH_MS).unref()
  }

  async function settled(): Promise<void> {
    await writing?.catch(() => {})
    await write()
  }

  const note: ActivityLog['note'] = (...activity) => {
    if (!isOn) return
    queue.add({ at: Date.now(), activity })
    if (queue.size === BATCH) writeLater()
    else wake()
  }

  const recorded: ActivityLog['recorded'] = async (session) => {
    try {
      await settled()
    } catch {
      if (!session || !audit?.mayRefuse) return
      note('session.ended', session, { kind: 'app', at: Date.now(), note: 'The login could not be recorded.' })
      const message = 'The login could not be recorded in the audit log, so it was refused. Try again shortly.'
      throw new SessmgrError('store_unavailable', message)
    }
  }

  function start(): void {
    if (isOn) return
    isOn = true
    // Load it now, so that an update in place cannot remove the file first.
    recorder().catch(() => {})
  }

  if (audit) start()
  return {
    log: { note, recorded: audit?.isBefore ? recorded : undefined },
    start,
    async recorder() {
      await settled().catch(() => {})
      return recorder()
    },
    async forget(userId) {
      if (!isOn) return 0
      await settled()
      return (await recorder()).forget(userId)
    },
    async recordedNames(userId) {
      if (audit === undefined || audit.identify === 'id') return []
      return (await recorder()).namesOf(userId)
    },
    async refusedSince(ms) {
      try {
        await settled()
        return await (await recorder()).refusedSince(ms)
      } catch {
        return null
      }
    },
    async close() {
      if (!isOn) return
      await settled().catch(() => {})
      clearTimeout(timer)
      isOn = false
      await (await recorder()).close()
    },
  }
}
