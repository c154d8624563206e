import { Round } from '../../ground/bounded-map.ts'
import { type Epoch, isCurrent } from '../../sessions/session-record.ts'
import type { WatchedSession } from '../store.ts'
import type { DocumentRow } from './document-driver.ts'
import { type ReadRow, rowKey } from './document-rows.ts'
import type { DocumentSessionRegistry } from './document-session-registry.ts'
import { type DocumentLogoutEpoch, EPOCH_KEY } from './document-values.ts'
import { useAt } from './user-document.ts'

/** Reads rows whose later changes are reported, each by a call of `forget()` or `forgetAll()`. */
export interface ReportedReads {
  /**
   * Reads a row. All replies come in the order of the reads, each after the reports of earlier changes.
   *
   * @param note Receives the row, if its changes will be reported.
   * @param failed Called in place of `note`.
   */
  read(key: string, note: (row: DocumentRow | undefined) => void, failed?: () => void): void
}

/** What is needed to judge sessions by their rows. */
export interface RowJudges {
  readonly sessions: Pick<DocumentSessionRegistry, 'lifeIn' | 'note'>
  readonly epoch: Pick<DocumentLogoutEpoch, 'epochIn'>
  /** Estimates of the database's clock: a time that it has not reached, or undefined if unknown, and one that it has. */
  readonly clock: { latest(): number | undefined; earliest(): number }
}

/** A user's row. Until it is forgotten, it has not changed since it was read. */
class RememberedRow {
  /** When the first of the sessions that were asked about expires, by the database's clock. 0 if it was forgotten. */
  until = Number.POSITIVE_INFINITY
  /** Whether a request has used it since it was last considered for eviction. */
  used = false
  /** The row, if the user has several sessions. What was asked about a single one is all that is needed of it. */
  row: ReadRow | undefined = undefined
}

/** The epoch, undefined until it has been read. */
interface RememberedEpoch {
  epoch: Epoch | undefined
}

/**
 * Remembers rows of users, and the epoch, for as long as the database reports their changes.
 *
 * An entry is made before the read that fills it, and a report in between discards it.
 */
export class RowCache {
  readonly #reads: ReportedReads
  readonly #judges: RowJudges
  readonly #capacity: number
  readonly #rows = new Map<string, RememberedRow>()
  readonly #turns = new Round(() => this.#rows.entries())
  #epoch: RememberedEpoch | undefined

  /** @param capacity How many rows to remember at most. */
  constructor(reads: ReportedReads, judges: RowJudges, capacity: number) {
    this.#reads = reads
    this.#judges = judges
    this.#capacity = capacity
  }

  /** Checks whether a session is live by a row that has not changed since it was learned from. */
  knows({ knowledge }: WatchedSession): boolean {
    const row = knowledge as RememberedRow | undefined
    if (!row || !this.#isToCome(row.until)) return false
    row.used = true
    return true
  }

  #isToCome(moment: number): boolean {
    const latest = this.#judges.clock.latest()
    return latest !== undefined && moment > latest
  }

  /** Learns whether a session is live, from the row that is remembered, or else from a read. */
  learn(session: WatchedSession): void {
    session.knowledge = undefined
    session.endedBefore = undefined
    this.#epoch ??= this.#readEpoch()
    const epoch = this.#epoch
    const key = rowKey('user', String(session.userId))
    const known = this.#rows.get(key)
    if (known && !this.#isToCome(known.until)) this.forget(key)
    const remembered = this.#rows.get(key) ?? this.#remember(key)
    const { clock } = this.#judges
    if (remembered.row) return this.#judge(session, remembered, remembered.row, epoch)
    this.#reads.read(key, (row) => {
      if (row) this.#judge(session, remembered, { at: performance.now(), now: clock.earliest(), ...row }, epoch)
    })
  }

  #judge(session: WatchedSession, remembered: RememberedRow, row: ReadRow, { epoch }: RememberedEpoch): void {
    const { sessions, clock } = this.#judges
    const life = sessions.lifeIn(session.userId, row, session.token)
    const now = clock.latest()
    // What the session of another user depends on is not in this row.
    if (!life || life.host || !epoch || now === undefined || now >= life.expiresAt) return
    session.use = useAt(life, performance.now(), now)
    if (!isCurrent(epoch, { token: session.token, generation: life.generation })) {
      // No later epoch keeps it, so the session stays ended. The request is going to end it.
      session.endedBefore = epoch.generation
      sessions.note(session.userId, row)
    } else if (remembered.until > 0) {
      remembered.until = Math.min(remembered.until, life.expiresAt)
      remembered.row = life.isOnly ? undefined : row
      session.knowledge = remembered
    }
  }

  #readEpoch(): RememberedEpoch {
    const remembered: RememberedEpoch = { epoch: undefined }
    const failed = () => {
      if (this.#epoch === remembered) this.#epoch = undefined
    }
    const note = (row: DocumentRow | undefined) => {
      remembered.epoch = this.#judges.epoch.epochIn({ revision: undefined, text: undefined, ...row })
    }
    this.#reads.read(EPOCH_KEY, note, failed)
    return remembered
  }

  #remember(key: string): RememberedRow {
    if (this.#rows.size < this.#capacity) this.#turns.pause()
    while (this.#rows.size >= this.#capacity) this.#makeRoom()
    const row = new RememberedRow()
    this.#rows.set(key, row)
    return row
  }

  /** Forgets the row whose turn it is, unless it was used since its last turn. */
  #makeRoom(): void {
    const [key, row] = this.#turns.step() ?? []
    if (row?.used) row.used = false
    else if (key !== undefined) this.forget(key)
  }

  /** Forgets a row. Called when it has changed. */
  forget(key: string): void {
    if (key === EPOCH_KEY) return this.forgetAll()
    const row = this.#rows.get(key)
    if (!row) return
    row.until = 0
    this.#rows.delete(key)
  }

  /** Forgets everything. Called when any row may have changed, or changes are no longer reported. */
  forgetAll(): void {
    this.#epoch = undefined
    for (const row of this.#rows.values()) row.until = 0
    this.#rows.clear()
  }
}
