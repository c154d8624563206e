import { BoundedMap } from '../../ground/bounded-map.ts'
import type { Clock } from '../../ground/clock.ts'
import type { Logger } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import { noteEnded } from '../../sessions/session-end.ts'
import type { NewSession, StoredSession, Token } from '../../sessions/session-record.ts'
import type {
  AdoptedSession,
  CommitResult,
  ErasedSessions,
  Rotation,
  RotationChange,
  SessionChange,
  SessionRegistry,
  SessionUse,
  UserSessions,
} from '../../sessions/session-registry.ts'
import type { StateChange } from '../../sessions/user-state.ts'
import { DocumentTexts, decodeDocument, encodeDocument } from './document-codec.ts'
import { type DocumentRows, isUnconfirmed, type ReadRow, rowKey } from './document-rows.ts'
import { SharedUses } from './shared-uses.ts'
import {
  adoptSession,
  changeState,
  commitLogin,
  type DocumentChange,
  EMPTY,
  endOtherSessions,
  endSessions,
  eraseUser,
  isAhead,
  lastExpiry,
  lifeIn,
  type Moment,
  openDocument,
  readDocument,
  rotateSession,
  type SessionLife,
  type Step,
  takeUpSession,
  touchSession,
  type UserDocument,
  undoLogin,
  useAt,
} from './user-document.ts'

/** How many characters of rows to remember that were just read or written. */
const KNOWN_CAPACITY = 400_000
/** Weight of an entry besides its content, in characters. */
const ENTRY_WEIGHT = 500
/** How long a change may begin from a row that was just read or written. If it has changed since, it is read again. */
const KNOWN_MS = 1000
/** How many times to try to record a use while others write the same row. */
const TOUCH_TRIES = 2
/** How many times to try if the last recorded use is not recent. */
const OLD_TOUCH_TRIES = 50
/** How long a use counts as recent: well below the shortest idle release, which is 300 seconds. */
const RECENT_MS = 120_000
/** Longer texts, of more than about three sessions, are decoded only once. */
const LONG_TEXT = 500

interface ChangeOptions {
  /** Whether to wait until the change survives the loss of the primary. */
  readonly durably?: boolean
  /** The row to begin from, instead of reading it. */
  readonly known?: ReadRow | undefined
}

/** A user's sessions, with the row that has them. */
interface ReadSessions extends UserSessions {
  readonly row: ReadRow
}

/** A session registry in a database, with one row per user. */
export class DocumentSessionRegistry implements SessionRegistry {
  readonly #rows: DocumentRows
  readonly #clock: Clock | undefined
  readonly #texts = new DocumentTexts()
  /** Rows that were just read or written, so that the next change does not have to read them again. */
  readonly #known = new BoundedMap<string, ReadRow>(KNOWN_CAPACITY, ({ text = '' }) => ENTRY_WEIGHT + text.length)
  readonly #uses: SharedUses
  readonly quietMs: number

  /** @param clock Replaces the database's clock in tests. */
  constructor(rows: DocumentRows, logger: Logger, clock?: Clock) {
    this.#rows = rows
    this.quietMs = 2 * rows.deadlineMs
    this.#clock = clock
    this.#uses = new SharedUses(logger, (userId, tokens, step) => this.#touch(userId, tokens, step))
  }

  async read(userId: UserId): Promise<ReadSessions> {
    const key = keyOf(userId)
    let row = await this.#rows.read(key, true)
    if (isAhead(this.#texts.read(userId, row), row.now)) {
      await this.#change(userId, () => ({ result: undefined }))
      row = await this.#rows.read(key, true)
    }
    this.note(userId, row)
    return { ...readDocument(openDocument(this.#texts.read(userId, row), row.now), row.now), row }
  }

  async useOf(userId: UserId, token: Token, exactly = false): Promise<SessionUse | undefined> {
    const askedAt = performance.now()
    const row = await this.#rows.read(keyOf(userId), exactly)
    this.note(userId, row)
    const life = this.lifeIn(userId, row, token)
    if (!life) return undefined
    const { now, latest = now } = row
    // Only the database's own clock can tell that a session has expired.
    if (life.expiresAt <= latest && row.latest !== undefined) return this.useOf(userId, token, true)
    return life.lifeEnd > latest ? useAt(life, askedAt, latest) : undefined
  }

  /** Remembers a row that was just read, so that a change that follows does not have to read it again. */
  note(userId: UserId, row: ReadRow): void {
    this.#known.set(keyOf(userId), row)
  }

  /** Finds a session in the text of a row. Resolves to undefined if it is unknown; it may have expired. */
  lifeIn(userId: UserId, row: ReadRow, token: Token): SessionLife | undefined {
    const { text = '' } = row
    const document =
      text === '' || text.length > LONG_TEXT ? this.#texts.read(userId, row) : decodeDocument(userId, text)
    return lifeIn(document, token)
  }

  commit(userId: UserId, { row }: ReadSessions, change: SessionChange): Promise<CommitResult> {
    const step = commitLogin(userId, change)
    return this.#change(userId, (document, moment, { revision }) => step(document, moment, revision === row.revision), {
      known: this.#asOfNow(row),
    })
  }

  adopt(userId: UserId, session: NewSession): Promise<AdoptedSession | undefined> {
    return this.#change(userId, adoptSession(userId, session))
  }

  async touch(
    userId: UserId,
    token: Token,
    ttlMs: number | undefined,
    freshMs = 0,
    maxAgeMs?: number,
  ): Promise<boolean> {
    const step = touchSession(token, ttlMs, freshMs, maxAgeMs)
    if (freshMs === 0) return this.#touch(userId, [token], step)
    if (this.#uses.isDue(userId)) return this.#uses.write(userId, [token], step)
    const use = await this.useOf(userId, token)
    if (!use || use.isAged) return false
    // Only a lifetime that has changed must not wait.
    if (ttlMs !== undefined && Math.abs(ttlMs - use.ttlMs) >= freshMs) return this.#uses.write(userId, [token], step)
    this.#uses.add(userId, token, step)
    return true
  }

  #touch(userId: UserId, tokens: readonly Token[], step: Step<boolean>): Promise<boolean> {
    let tries = 0
    return this.#change(userId, (document, moment) => {
      tries += 1
      const { result, next } = step(document, moment)
      // Recording a use must not delay logins of the same user, but a session in use must not seem unused.
      const isRecent = ({ record }: StoredSession) =>
        !tokens.includes(record.token) || moment.now - record.lastSeenAt < RECENT_MS
      const most = document.sessions.every(isRecent) ? TOUCH_TRIES : OLD_TOUCH_TRIES
      return { result, next: tries > most ? undefined : next }
    })
  }

  takeUp(userId: UserId, token: Token): Promise<boolean> {
    return this.#change(userId, takeUpSession(token), { known: this.#knownRow(userId) })
  }

  /** Writes the uses that have not been written yet. */
  close(): Promise<void> {
    return this.#uses.writeAll()
  }

  rotate(userId: UserId, token: Token, presented: number, change: RotationChange): Promise<Rotation | undefined> {
    return this.#change(userId, rotateSession(token, presented, change))
  }

  async end(userId: UserId, tokens?: readonly Token[]): Promise<readonly StoredSession[]> {
    return tokens?.length === 0
      ? []
      : this.#changeDurably(userId, endSessions(tokens), (ended) => ended, this.#knownRow(userId))
  }

  undo(userId: UserId, token: Token): Promise<void> {
    return this.#change(userId, undoLogin(token))
  }

  endOthers(userId: UserId, keep: Token, keepsChoices?: boolean): Promise<readonly StoredSession[] | undefined> {
    return this.#changeDurably(userId, endOtherSessions(keep, keepsChoices), (ended) => ended)
  }

  async erase(userId: UserId): Promise<ErasedSessions> {
    const erased = await this.#changeDurably(userId, eraseUser(this.quietMs), ({ ended }) => ended)
    this.#rows.purgeAfter(this.quietMs)
    return erased
  }

  changeState<Result>(userId: UserId, change: StateChange<Result>): Promise<Result> {
    return this.#change(userId, changeState(change))
  }

  /**
   * Changes a document durably. If that cannot be confirmed, attaches the ended sessions to the error, because a second
   * call would not find them.
   */
  async #changeDurably<Result>(
    userId: UserId,
    step: Step<Result>,
    endedIn: (result: Result) => readonly StoredSession[] | undefined,
    known?: ReadRow,
  ): Promise<Result> {
    let latest: Result | undefined
    const noting: Step<Result> = (document, moment) => {
      const { result, next } = step(document, moment)
      latest = result
      // Only a write can be confirmed, and an earlier call may have made this one without being confirmed.
      return { result, next: next ?? (this.#rows.isReplicated && document !== EMPTY ? document : undefined) }
    }
    try {
      return await this.#change(userId, noting, { durably: true, known })
    } catch (error) {
      const ended = isUnconfirmed(error) && endedIn(latest as Result)
      throw ended ? noteEnded(error, ended) : error
    }
  }

  #change<Result>(
    userId: UserId,
    step: (document: UserDocument, moment: Moment, row: ReadRow) => DocumentChange<Result>,
    { durably, known }: ChangeOptions = {},
  ): Promise<Result> {
    const key = keyOf(userId)
    const change = (row: ReadRow) => {
      const document = openDocument(this.#texts.read(userId, row), row.now)
      const mended = isAhead(this.#texts.read(userId, row), row.now) ? document : undefined
      const { result, next = mended } = step(document, momentOf(document, row.now), row)
      if (!next) return { result }
      const lifeMs = Math.max(1, lastExpiry(next) - row.now)
      const text = encodeDocument(next)
      // The next read finds this text, unless another process writes in between.
      this.#texts.keep(userId, text, next)
      return { result, write: { text, lifeMs, durably } }
    }
    this.#known.delete(key)
    return this.#rows.change(key, change, known, (row) => this.#known.set(key, row))
  }

  /** Returns a row that was just read or written. */
  #knownRow(userId: UserId): ReadRow | undefined {
    const row = this.#known.get(keyOf(userId))
    return row && performance.now() - row.at < KNOWN_MS ? this.#asOfNow(row) : undefined
  }

  /** Returns a row with the time that it is now. */
  #asOfNow(row: ReadRow): ReadRow {
    const at = performance.now()
    return { ...row, at, now: this.#clock?.now() ?? row.now + Math.floor(at - row.at) }
  }
}

function keyOf(userId: UserId): string {
  return rowKey('user', String(userId))
}

/** Returns the time and sequence of a change. A new session's sequence is also its time of admission. */
function momentOf({ sessions }: UserDocument, now: number): Moment {
  const sequence = Math.max(now, (sessions.at(-1)?.record.sequence ?? 0) + 1)
  return { now, sequence, createdAt: sequence }
}
