import type { Erasures } from '../../auth/erasures.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { Logger } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { ActivityLog } from '../../limiter/events.ts'
import type { NotedActivity } from './event-of.ts'
import type { Recorder, RecorderParts } from './recorder.ts'
import type { ResolvedAudit } from './resolve-audit-options.ts'

/** Events are written in batches: after this time, or once this many are waiting. */
const BATCH_MS = 1000
const BATCH = 100
/** How many activities may wait for the recorder. */
const MOST_NOTED = 10_000

interface ActivityParts {
  /** With `false`, nothing is recorded. */
  readonly audit: ResolvedAudit | false | undefined
  readonly deadlineMs: number
  readonly logger: Logger
  /** The marks of erased users. */
  readonly erasures?: Erasures | undefined
}

/** What the service uses of the activity log. */
export interface ActivityFeature {
  /** Receives the activities. */
  readonly log: ActivityLog
  /** Starts recording, unless it has started. Called for the REST routes, which need a record even without `audit`. */
  start(): void
  /** Returns the recorder, after it has tried to write everything noted so far. */
  recorder(): Promise<Recorder>
  /**
   * Deletes the events about and by a user, including those that are not written yet. Resolves to null if the sink
   * cannot delete them.
   *
   * @throws SessmgrError `store_unavailable`
   */
  forget(userId: UserId): Promise<number | null>
  /** Returns the names that the `identify` option may have recorded for a user. Empty if users are recorded by id. */
  recordedNames(userId: UserId): Promise<readonly UserId[]>
  /** Counts the refused logins since a time, in milliseconds. Resolves to null if their number is unknown. */
  refusedSince(ms: number): Promise<number | null>
  /** Writes the events that are left, and closes the sink. */
  close(): Promise<void>
}

async function refusedSince(recorder: Recorder, ms: number): Promise<number | null> {
  const period = { from: ms, to: Number.MAX_SAFE_INTEGER, step: Number.MAX_SAFE_INTEGER }
  const { parts, isWhole } = await recorder.count({ type: 'login.refused', ...period, limit: 0 })
  return isWhole ? (parts[0]?.refused ?? 0) : null
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
 * @param load Loads and creates the recorder.
 */
export function createActivity(
  { audit: given, deadlineMs, logger, erasures }: ActivityParts,
  load: (parts: RecorderParts) => Promise<Recorder>,
): ActivityFeature {
  const audit = given || undefined
  const queue = new NotedQueue()
  let isOn = false
  let loading: Promise<Recorder> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> | undefined

  function recorder(): Promise<Recorder> {
    loading ??= load({ audit, deadlineMs, logger, erasures, takeNoted: () => queue.take() })
    return loading
  }

  /** Writes everything noted so far. Joins a write that is in progress, which may miss the latest activities. */
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
      const message = 'The login could not be recorded in the activity log, so it was refused. Try again shortly.'
      throw new SessmgrError('store_unavailable', message)
    }
  }

  function start(): void {
    if (isOn || given === false) return
    isOn = true
    // Load the code now, before an in-place update can remove its file.
    recorder().catch(() => {})
  }

  if (audit) start()
  return {
    log: { note, recorded: audit?.isBefore ? recorded : undefined },
    start,
    recorder: () => settled().then(recorder, recorder),
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
      if (given === false) return null
      try {
        await settled()
        return await refusedSince(await recorder(), ms)
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
