import { BoundedMap } from '../../ground/bounded-map.ts'
import { withDeadline } from '../../ground/deadline.ts'
import { type Logger, warnOnce } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { PeopleIndex, PersonChange } from '../../sessions/people-index.ts'

/** How many people's changes wait at most. If the index hangs, the oldest are dropped. */
const MOST_WAITING = 10_000
const COLLECT_MS = 100
/** A busy database may take some seconds for the changes of one. Nothing waits for it. */
const DEADLINES = 10

const FAILED =
  'The index of people could not be updated, so the admin screen may miss people or show old numbers. No login is ' +
  'affected. The numbers are corrected when a person signs in again or is shown.'

/** The sum of a person's changes. */
interface WaitingPerson {
  readonly userId: UserId
  readonly at: number
  /** The last absolute number, if there was one. */
  readonly live: number | undefined
  /** What has come and gone since. */
  readonly change: number
}

/** Collects the changes of a short time and notes them together. Never rejects, and nothing waits for it. */
export class PeopleNotes {
  readonly #index: PeopleIndex
  readonly #deadlineMs: number
  readonly #logger: Logger
  #waiting = new BoundedMap<string, WaitingPerson>(MOST_WAITING)
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()
  #hasFailed = false

  constructor(index: PeopleIndex, deadlineMs: number, logger: Logger) {
    this.#index = index
    this.#deadlineMs = deadlineMs
    this.#logger = logger
  }

  /** Whether a change was lost since the process started. Users may be missing until they sign in again. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  add(change: PersonChange): void {
    const key = JSON.stringify(change.userId)
    this.#waiting.set(key, sum(this.#waiting.get(key), change))
    // The process may exit meanwhile; close() notes what is left.
    this.#timer ??= setTimeout(() => void this.flush(), this.#index.collectMs ?? COLLECT_MS).unref()
  }

  /** Removes the people who signed in before a time, and their changes that wait. */
  clear(before: number): Promise<void> {
    for (const [key, { at }] of this.#waiting) if (at < before) this.#waiting.delete(key)
    return this.#write((index) => index.clear(before))
  }

  /** Notes what waits now. Resolves when everything is noted, or when that takes too long. */
  async flush(): Promise<void> {
    await withDeadline(this.#flushAll(), this.#deadlineMs, late).catch(() => {})
  }

  #flushAll(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting.size === 0) return this.#writing
    // One call at a time, so that a slow index gets fewer and larger ones.
    return this.#write((index) => {
      const changes = [...this.#waiting.values()].map(toChange)
      this.#waiting.clear()
      return index.note(changes)
    })
  }

  #write(call: (index: PeopleIndex) => Promise<void>): Promise<void> {
    this.#writing = this.#writing
      .then(() => withDeadline(call(this.#index), DEADLINES * this.#deadlineMs, late))
      .catch(() => {
        this.#hasFailed = true
        warnOnce(this.#logger, 'directory-is-incomplete', FAILED)
      })
    return this.#writing
  }
}

function late(): Error {
  return new Error('The index did not respond in time')
}

function sum(earlier: WaitingPerson | undefined, change: PersonChange): WaitingPerson {
  const { userId } = change
  const { at, live, change: since } = earlier ?? { at: 0, live: undefined, change: 0 }
  if ('ended' in change) return { userId, at, live, change: since - change.ended }
  if ('added' in change) return { userId, at: Math.max(at, change.at), live, change: since + change.added }
  return earlier && live !== undefined && at > change.at
    ? earlier
    : { userId, at: change.at, live: change.live, change: 0 }
}

function toChange({ userId, at, live, change }: WaitingPerson): PersonChange {
  if (live !== undefined) return { userId, at, live: Math.max(0, live + change) }
  return change > 0 ? { userId, at, added: change } : { userId, ended: -change }
}
