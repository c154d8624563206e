import { setTimeout as sleep } from 'node:timers/promises'
import { BoundedMap } from '../../ground/bounded-map.ts'
import { type Logger, warnOnce } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { NewSession, StoredSession, Token } from '../../sessions/session-record.ts'
import type {
  AdoptedSession,
  CommitResult,
  ErasedSessions,
  SessionChange,
  SessionRegistry,
  UserSessions,
} from '../../sessions/session-registry.ts'
import {
  adoptSession,
  commitLogin,
  type DocumentChange,
  endOtherSessions,
  endSessions,
  eraseSessions,
  restampSession,
  touchSession,
} from './change-user-document.ts'
import { type DocumentRows, type ReadRow, rowKey } from './document-rows.ts'
import {
  decodeDocument,
  EMPTY,
  encodeDocument,
  isAhead,
  lastExpiry,
  openDocument,
  type UserDocument,
} from './user-document.ts'

/** How many characters of documents a process caches: enough for about 1,000 users with ten sessions each. */
const CAPACITY = 4_000_000
/** Weight of an entry besides its content, in characters. */
const ENTRY_WEIGHT = 500
/** How long a commit may rely on what the login has read. It is so short that hardly any session expires in between. */
const KNOWN_MS = 100
/** A row outlives its sessions by this much, so that a new row continues its revisions. */
const LEAST_LIFE_MS = 60_000
const MANY_SESSIONS = 500
/** How often to try to record a use while others write the same row. */
const TOUCH_TRIES = 2
/** How often to try if the last recorded use is not recent. */
const OLD_TOUCH_TRIES = 50
/** A document's version is ahead of the clock for a few milliseconds, or for long if the clock was set back. */
const MOST_ERASE_WAIT_MS = 100
/** Well below the shortest idle release, which is 300 seconds. */
const RECENT_MS = 120_000

interface Parsed {
  readonly text: string
  readonly document: UserDocument
}

interface KnownRow {
  readonly at: number
  readonly row: ReadRow
}

/** A session registry in a database, with one row per user. */
export class DocumentSessionRegistry implements SessionRegistry {
  readonly #rows: DocumentRows
  readonly #logger: Logger
  /**
   * The last text and document of each key, so that unchanged text is not parsed again. Comparing revisions is not
   * enough: after a failover or a manual repair, the same revision may have other content.
   */
  readonly #parsed = new BoundedMap<string, Parsed>(CAPACITY, ({ text }) => ENTRY_WEIGHT + text.length)
  /** Rows that logins have just read, so that their commits do not have to read them again. */
  readonly #known = new BoundedMap<string, KnownRow>(CAPACITY, ({ row: { text = '' } }) => ENTRY_WEIGHT + text.length)

  constructor(rows: DocumentRows, logger: Logger) {
    this.#rows = rows
    this.#logger = logger
  }

  async read(userId: UserId): Promise<UserSessions> {
    const key = keyOf(userId)
    let row = await this.#rows.read(key)
    if (isAhead(this.#parse(userId, row), row.now)) {
      await this.#change(userId, () => ({ result: undefined }))
      row = await this.#rows.read(key)
    }
    this.#known.set(key, { at: performance.now(), row })
    const { sessions, version } = this.#open(userId, row)
    return { sessions, version: String(version), now: row.now }
  }

  async generationOf(userId: UserId, token: Token): Promise<number | undefined> {
    const row = await this.#rows.read(keyOf(userId))
    const found = this.#parse(userId, row).sessions.find(({ record }) => record.token === token)
    return found && found.record.expiresAt > row.now ? found.record.generation : undefined
  }

  commit(userId: UserId, version: string, change: SessionChange): Promise<CommitResult> {
    const key = keyOf(userId)
    const known = this.#known.get(key)
    this.#known.delete(key)
    const isKnown = known && performance.now() - known.at < KNOWN_MS
    return this.#change(userId, commitLogin(userId, version, change), isKnown ? known.row : undefined)
  }

  adopt(userId: UserId, session: NewSession): Promise<AdoptedSession | undefined> {
    return this.#change(userId, adoptSession(userId, session))
  }

  touch(userId: UserId, token: Token, ttlMs: number, freshMs = 0): Promise<boolean> {
    const step = touchSession(token, Math.max(1, Math.round(ttlMs)), freshMs)
    let tries = 0
    return this.#change(userId, (document, now) => {
      tries += 1
      const { result, next } = step(document, now)
      // Recording a use must not delay logins of the same user, but a session in use must not seem to be unused.
      const isRecent = ({ record }: StoredSession) => record.token === token && now - record.lastSeenAt < RECENT_MS
      const most = document.sessions.some(isRecent) ? TOUCH_TRIES : OLD_TOUCH_TRIES
      return { result, next: tries > most ? undefined : next }
    })
  }

  restamp(userId: UserId, token: Token, generation: number, version?: string): Promise<boolean> {
    return this.#change(userId, restampSession(token, generation, version))
  }

  async end(userId: UserId, tokens?: readonly Token[]): Promise<readonly StoredSession[]> {
    return tokens?.length === 0 ? [] : this.#change(userId, endSessions(tokens))
  }

  endOthers(userId: UserId, keep: Token): Promise<readonly StoredSession[] | undefined> {
    return this.#change(userId, endOtherSessions(keep))
  }

  async erase(userId: UserId, tokens?: readonly Token[]): Promise<ErasedSessions> {
    const end = performance.now() + MOST_ERASE_WAIT_MS
    const step = eraseSessions(tokens, () => performance.now() < end)
    const key = keyOf(userId)
    for (;;) {
      const erased = await this.#change(userId, step)
      this.#parsed.delete(key)
      this.#known.delete(key)
      if (erased) {
        this.#rows.purgeLater()
        return erased
      }
      await sleep(1)
    }
  }

  #change<Result>(
    userId: UserId,
    step: (document: UserDocument, now: number) => DocumentChange<Result>,
    known?: ReadRow,
  ): Promise<Result> {
    const change = (row: ReadRow) => {
      const document = this.#open(userId, row)
      const mended = isAhead(this.#parse(userId, row), row.now) ? document : undefined
      const { result, next = mended } = step(document, row.now)
      if (!next) return { result }
      // Nothing is left, so the row is emptied, and deleted after ten minutes.
      if (next === EMPTY) return { result, write: row.text === undefined ? undefined : { text: undefined } }
      if (next.sessions.length > MANY_SESSIONS) this.#warnOfMany()
      const lifeMs = Math.max(LEAST_LIFE_MS, lastExpiry(next) - row.now)
      return { result, write: { text: encodeDocument(next), lifeMs } }
    }
    return this.#rows.change(keyOf(userId), change, known)
  }

  #open(userId: UserId, row: ReadRow): UserDocument {
    return openDocument(this.#parse(userId, row), row.now)
  }

  #parse(userId: UserId, { text }: ReadRow): UserDocument {
    if (text === undefined) return EMPTY
    const key = keyOf(userId)
    const parsed = this.#parsed.get(key)
    if (parsed?.text === text) return parsed.document
    const document = decodeDocument(userId, text)
    this.#parsed.set(key, { text, document })
    return document
  }

  #warnOfMany(): void {
    warnOnce(
      this.#logger,
      'many-sessions-in-a-database',
      `A user has more than ${MANY_SESSIONS} sessions, and the database rewrites all of them at each login. ` +
        'Use redisStore() from sessmgr/redis for accounts like this one.',
    )
  }
}

function keyOf(userId: UserId): string {
  return rowKey('user', String(userId))
}
