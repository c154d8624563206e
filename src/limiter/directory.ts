import type { Erasures } from '../auth/erasures.ts'
import { BoundedMap } from '../ground/bounded-map.ts'
import { inBatches, withDeadline } from '../ground/deadline.ts'
import { messageOf } from '../ground/errors.ts'
import { type Logger, logFailureOnce } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type {
  IndexedPerson,
  PeopleCounts,
  PeopleIndex,
  PeoplePage,
  PeopleQuery,
  PersonChange,
} from '../sessions/people-index.ts'
import type { SessionEnd } from '../sessions/session-end.ts'
import {
  type Epoch,
  FIRST_EPOCH,
  isCurrent,
  type SessionRecord,
  type StoredSession,
} from '../sessions/session-record.ts'
import type { SiteLogout, UserSessions } from '../sessions/session-registry.ts'

/** How many people each count checks against the session registry. */
const CHECKED = 100

/** Lists the people who are signed in, and keeps their index up to date. */
export interface Directory {
  /** Lists people as the index knows them. Check each against the registry, and report differences to `correct`. */
  page(query: PeopleQuery): Promise<PeoplePage>
  /**
   * Counts the people by their number of sessions. Sessions expire without an event, so each call also checks the next
   * 100 people.
   */
  count(): Promise<CheckedCounts>
  /** Returns true if no change was lost since the process started. */
  isComplete(): boolean
  /** Corrects the session counts of listed people; 0 removes a person. Ignores people who have signed in since. */
  correct(people: readonly IndexedPerson[]): void
  /** Records a login and the earlier sessions that it ended. */
  login(before: SessionsBefore, admitted: SessionRecord, ended: readonly StoredSession[]): void
  /** Records the registration of an existing session. */
  adopted(session: SessionRecord): void
  /** Records that a session has ended. */
  ended(session: SessionRecord, end: SessionEnd): void
  /** Records a site-wide logout. */
  loggedOut(logout: SiteLogout, kept: UserId | undefined): void
  /** Writes waiting changes to the index. Resolves when they are written, or when that takes too long. */
  flush(): Promise<void>
}

interface CheckedCounts {
  readonly counts: PeopleCounts
  /** Whether the check covered all people, and no change was lost. */
  readonly exact: boolean
}

/** The sessions that a user had when a login was decided on. */
export interface SessionsBefore {
  readonly read: UserSessions
  readonly epoch: Epoch
}

export interface DirectoryParts {
  readonly index: PeopleIndex
  readonly logger: Logger
  readonly deadlineMs: number
  readonly erasures: Erasures
  /** Counts a user's live sessions. */
  countOf(userId: UserId): Promise<number>
}

/** Creates the directory. */
export function createDirectory({ index, logger, deadlineMs, erasures, countOf }: DirectoryParts): Directory {
  const notes = new PeopleNotes(index, deadlineMs, logger, erasures)
  /** The latest epoch that is known. Sessions that are not current in it are no longer counted. */
  let epoch = FIRST_EPOCH
  let cursor: string | undefined

  const correct = (people: readonly IndexedPerson[]) => {
    for (const person of people) notes.add(person)
  }

  /** Checks the next 100 people against the registry. Resolves to true if the index has no others. */
  async function checkNext(): Promise<boolean> {
    const isFirst = cursor === undefined
    const { people, next } = await index.page({ sort: 'recent', limit: CHECKED, cursor })
    cursor = next
    const counted = await Promise.all(people.map(async (person) => ({ ...person, live: await countOf(person.userId) })))
    correct(counted.filter(({ live }, position) => live !== people[position]?.live))
    return isFirst && next === undefined
  }

  return {
    async page(query) {
      await notes.flush()
      return index.page(query)
    },
    async count() {
      await notes.flush()
      const exact = await checkNext()
      await notes.flush()
      return { counts: await index.count(), exact: exact && !notes.hasFailed }
    },
    isComplete: () => !notes.hasFailed,
    correct,
    login({ read, epoch: current }, { userId, token, createdAt }, ended) {
      if (current.generation > epoch.generation) epoch = current
      const gone = new Set([token, ...ended.map(({ record }) => record.token)])
      const left = read.sessions.filter(({ record }) => isCurrent(current, record) && !gone.has(record.token))
      notes.add({ userId, at: createdAt, live: left.length + 1 })
    },
    adopted({ userId, createdAt }) {
      notes.add({ userId, at: createdAt, added: 1 })
    },
    ended(session, { kind, by }) {
      // Like an expiry, the end of a session by its age is noticed late, and perhaps counted before.
      if (kind === 'max_age') return
      // If a login ended the session, `login` has already noted how many are left.
      if (by?.token === undefined && isCurrent(epoch, session)) notes.add({ userId: session.userId, ended: 1 })
    },
    loggedOut(logout, kept) {
      epoch = logout
      const at = logout.epoch * 1000
      void notes.clear(at)
      if (kept !== undefined) notes.add({ userId: kept, at, live: 1 })
    },
    flush: () => notes.flush(),
  }
}

/** Maximum number of people whose changes wait. If the index hangs, the oldest changes are dropped. */
const MOST_WAITING = 10_000
const COLLECT_MS = 100
/** How many deadlines a write may take, because a busy database may need seconds for one batch. */
const DEADLINES = 10

const FAILED =
  'The index of people could not be updated, so the admin screen may miss people or show old counts. No login is ' +
  'affected. A count is corrected when the person signs in again or is shown.'

/** A person's waiting changes, added up. */
interface WaitingPerson {
  readonly userId: UserId
  readonly at: number
  /** The last known number of sessions, if any. */
  readonly live: number | undefined
  /** How many sessions were added since, minus those that ended. */
  readonly change: number
}

/** Collects changes for a short time and writes them to the index together. Never rejects. */
class PeopleNotes {
  readonly #index: PeopleIndex
  readonly #deadlineMs: number
  readonly #logger: Logger
  readonly #erasures: Erasures
  /** The generation of erasures when they were last looked up. */
  #generation: number | undefined
  #waiting = new BoundedMap<string, WaitingPerson>(MOST_WAITING)
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()
  #hasFailed = false

  constructor(index: PeopleIndex, deadlineMs: number, logger: Logger, erasures: Erasures) {
    this.#index = index
    this.#deadlineMs = deadlineMs
    this.#logger = logger
    this.#erasures = erasures
  }

  /** Whether a change was lost since the process started. Users may be missing until they sign in again. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  add(change: PersonChange): void {
    const key = JSON.stringify(change.userId)
    this.#waiting.set(key, sum(this.#waiting.get(key), change))
    // The timer does not keep the process running; close() writes what is left.
    this.#timer ??= setTimeout(() => void this.flush(), this.#index.collectMs ?? COLLECT_MS).unref()
  }

  /** Removes the people who last signed in before a time, and their waiting changes. */
  clear(before: number): Promise<void> {
    for (const [key, { at }] of this.#waiting) if (at < before) this.#waiting.delete(key)
    return this.#write((index) => index.clear(before))
  }

  /** Writes the waiting changes. Resolves when they are written, or when that takes too long. */
  async flush(): Promise<void> {
    await withDeadline(this.#flushAll(), this.#deadlineMs, late).catch(() => {})
  }

  #flushAll(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting.size === 0) return this.#writing
    // Makes one call at a time, so that a slow index gets fewer, larger calls.
    return this.#write(async (index) => {
      const noted = [...this.#waiting.values()]
      this.#waiting.clear()
      const erased = await this.#erasedAmong(noted)
      const left = noted.filter(({ userId, at }) => !(at <= (erased.get(userId) ?? Number.NEGATIVE_INFINITY)))
      await index.note(left.map(toChange))
      // Someone may have been erased during the write.
      const late = await this.#erasedAmong(left)
      await index.note([...late].map(([userId, at]) => ({ userId, at, live: 0 })))
    })
  }

  /**
   * Returns which of `people` were erased, and when. Looks only if anyone was erased since the last call.
   */
  async #erasedAmong(people: readonly WaitingPerson[]): Promise<ReadonlyMap<UserId, number>> {
    const generation = await this.#erasures.generation()
    const erased = new Map<UserId, number>()
    if (generation !== this.#generation && generation > 0) {
      await inBatches(people, (batch) =>
        Promise.all(
          batch.map(async ({ userId }) => {
            const at = await this.#erasures.of(userId)
            if (at !== undefined) erased.set(userId, at)
          }),
        ),
      )
    }
    this.#generation = generation
    return erased
  }

  #write(call: (index: PeopleIndex) => Promise<void>): Promise<void> {
    this.#writing = this.#writing
      .then(() => withDeadline(call(this.#index), DEADLINES * this.#deadlineMs, late))
      .catch((error) => {
        this.#hasFailed = true
        logFailureOnce(this.#logger, FAILED, { error: messageOf(error) })
      })
    return this.#writing
  }
}

function late(): Error {
  return new Error('The index did not respond in time')
}

function sum(earlier: WaitingPerson | undefined, change: PersonChange): WaitingPerson {
  const { userId } = change
  const known = earlier ?? { userId, at: 0, live: undefined, change: 0 }
  const { at, live, change: since } = known
  if ('ended' in change) return { userId, at, live, change: since - change.ended }
  if ('added' in change) return { userId, at: Math.max(at, change.at), live, change: since + change.added }
  return at > change.at ? known : { userId, at: change.at, live: change.live, change: 0 }
}

function toChange({ userId, at, live, change }: WaitingPerson): PersonChange {
  if (live !== undefined) return { userId, at, live: Math.max(0, live + change) }
  return change > 0 ? { userId, at, added: change } : { userId, ended: -change }
}
