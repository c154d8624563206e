import { setTimeout as sleep } from 'node:timers/promises'
import { BoundedMap } from '../../ground/bounded-map.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { type Logger, warnOnce } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import { type NewSession, type StoredSession, type Token, tokenOf } from '../../sessions/session-record.ts'
import {
  type AdoptedSession,
  type CommitResult,
  type ErasedSessions,
  MOST_AHEAD_MS,
  type Rotation,
  type RotationChange,
  type SessionChange,
  type SessionRegistry,
  type SessionUse,
  type UserSessions,
} from '../../sessions/session-registry.ts'
import { type DocumentRows, type ReadRow, rowKey } from './document-rows.ts'
import {
  adoptSession,
  commitLogin,
  type DocumentSession,
  EMPTY,
  endOtherSessions,
  endSessions,
  eraseSessions,
  isAhead,
  lastExpiry,
  type Moment,
  openDocument,
  recordIn,
  restampSession,
  rotateSession,
  type Step,
  touchSession,
  type UserDocument,
} from './user-document.ts'

/** How many characters of documents a process caches: enough for about 1,000 users with ten sessions each. */
const CAPACITY = 4_000_000
/** Weight of an entry besides its content, in characters. */
const ENTRY_WEIGHT = 500
/** How long a commit may rely on the row that the login has read. Hardly any session expires in so short a time. */
const KNOWN_MS = 100
const MANY_SESSIONS = 500
/** How many times to try to record a use while others write the same row. */
const TOUCH_TRIES = 2
/** How many times to try if the last recorded use is not recent. */
const OLD_TOUCH_TRIES = 50
/**
 * How long an erasure waits, at most, for the clock to pass the document's version. If the clock was set back, the
 * version may be far ahead.
 */
const MOST_ERASE_WAIT_MS = 100
/** How long a use counts as recent: well below the shortest idle release, which is 300 seconds. */
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

  async useOf(userId: UserId, token: Token): Promise<SessionUse | undefined> {
    const askedAt = performance.now()
    const row = await this.#rows.read(keyOf(userId))
    const record = recordIn(this.#parse(userId, row), token, row.now)
    if (!record) return undefined
    const { generation, lastSeenAt, expiresAt } = record
    return { generation, usedAt: askedAt - (row.now - lastSeenAt), ttlMs: expiresAt - lastSeenAt }
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

  touch(userId: UserId, token: Token, ttlMs: number | undefined, freshMs?: number): Promise<boolean> {
    const step = touchSession(token, ttlMs, freshMs)
    let tries = 0
    return this.#change(userId, (document, moment) => {
      tries += 1
      const { result, next } = step(document, moment)
      // Recording a use must not delay logins of the same user, but a session in use must not seem unused.
      const isRecent = ({ record }: StoredSession) =>
        record.token === token && moment.now - record.lastSeenAt < RECENT_MS
      const most = document.sessions.some(isRecent) ? TOUCH_TRIES : OLD_TOUCH_TRIES
      return { result, next: tries > most ? undefined : next }
    })
  }

  rotate(userId: UserId, token: Token, presented: number, change: RotationChange): Promise<Rotation | undefined> {
    return this.#change(userId, rotateSession(token, presented, change))
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
    const erase = eraseSessions(tokens)
    // An emptied row starts over, so its next version could repeat the current one.
    const step: Step<ErasedSessions | undefined> = (document, moment) =>
      document.version >= moment.now && performance.now() < end
        ? { result: undefined }
        : erase(document, { ...moment, sequence: moment.now })
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

  async #change<Result>(userId: UserId, step: Step<Result>, known?: ReadRow): Promise<Result> {
    const key = keyOf(userId)
    let written: Parsed | undefined
    const change = (row: ReadRow) => {
      written = undefined
      const document = this.#open(userId, row)
      const mended = isAhead(this.#parse(userId, row), row.now) ? document : undefined
      const { result, next = mended } = step(document, momentOf(document, row.now))
      if (!next) return { result }
      // Nothing is left, so the row is emptied, and deleted after ten minutes. An empty row is also rewritten, because
      // a login in progress must find another version.
      if (next === EMPTY) return { result, write: { text: undefined } }
      if (next.sessions.length > MANY_SESSIONS) this.#warnOfMany()
      const lifeMs = Math.max(1, lastExpiry(next) - row.now)
      written = { text: encodeDocument(next), document: next }
      return { result, write: { text: written.text, lifeMs } }
    }
    const result = await this.#rows.change(key, change, known)
    // The next read finds this text, unless another process writes in between.
    if (written?.document.sessions.every(isAsWritten)) this.#parsed.set(key, written)
    return result
  }

  #open(userId: UserId, row: ReadRow): UserDocument {
    return openDocument(this.#parse(userId, row), row.now)
  }

  #parse(userId: UserId, { text, revision }: ReadRow): UserDocument {
    if (text === undefined) return revision === undefined ? EMPTY : { ...EMPTY, version: versionOfEmpty(revision) }
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

/** Returns a version that no document with sessions has, and no other empty row. */
function versionOfEmpty(revision: string): number {
  return -1 - Number.parseInt(revision, 16)
}

function keyOf(userId: UserId): string {
  return rowKey('user', String(userId))
}

/**
 * Returns the time, version and sequence of a change. A new session's sequence is also its time of admission. The
 * sequence is the new version, unless versions are ahead because the clock was set back.
 */
function momentOf({ version: last, sessions }: UserDocument, now: number): Moment {
  const version = Math.max(last + 1, now)
  const isNear = version <= now + MOST_AHEAD_MS
  const sequence = isNear ? version : Math.max(now, (sessions.at(-1)?.record.sequence ?? 0) + 1)
  return { now, version, sequence, createdAt: sequence }
}

/** A session as stored: with short names, and without what can be derived from its id. */
interface WrittenSession {
  readonly i: string
  /** Time of admission, which is also the sequence. */
  readonly a: number
  readonly l: number
  readonly x: number
  readonly g: number
  /** Set if the user's id is a number. */
  readonly n?: 1
  readonly ip?: string
  readonly ua?: string
  readonly d?: string
  readonly r?: DocumentSession['rotation']
}

interface WrittenDocument {
  readonly v: number
  readonly s: readonly WrittenSession[]
  readonly e?: UserDocument['ended']
  readonly m?: number
}

/** Encodes a document as the content of a row. */
function encodeDocument({ version, sessions, ended, mark }: UserDocument): string {
  const written: WrittenDocument = {
    v: version,
    s: sessions.map(encodeSession),
    ...(ended.length > 0 && { e: ended }),
    ...(mark > 0 && { m: mark }),
  }
  return JSON.stringify(written)
}

/**
 * Decodes the content of a row.
 *
 * @throws SessmgrError `store_unavailable` if it is not a document.
 */
function decodeDocument(userId: UserId, text: string): UserDocument {
  try {
    const { v, s, e = [], m = 0 } = JSON.parse(text) as WrittenDocument
    if (!Number.isSafeInteger(v)) throw new TypeError('It has no version')
    return { version: v, sessions: s.map((it) => decodeSession(userId, it)), ended: e, mark: m }
  } catch {
    throw new SessmgrError(
      'store_unavailable',
      `The row of the user "${userId}" in the sessmgr database is damaged: it is not a document. Delete it, which ends ` +
        "the user's sessions.",
    )
  }
}

function encodeSession({ sessionId, record, rotation }: DocumentSession): WrittenSession {
  const { userId, sequence, lastSeenAt, expiresAt, generation, ip, userAgent, device } = record
  return {
    i: sessionId,
    a: sequence,
    l: lastSeenAt,
    x: expiresAt,
    g: generation,
    ...(typeof userId === 'number' && { n: 1 }),
    ...(ip !== null && { ip }),
    ...(userAgent !== null && { ua: userAgent }),
    ...(device !== null && { d: device }),
    ...(rotation && { r: rotation }),
  }
}

/** Checks whether a session is the same after encoding and decoding. If the clock was set back, it may differ. */
function isAsWritten({ record }: StoredSession): boolean {
  return record.createdAt === record.sequence
}

function decodeSession(userId: UserId, { i, a, l, x, g, n, ip, ua, d, r }: WrittenSession): DocumentSession {
  const record = {
    token: tokenOf(i),
    userId: n ? Number(userId) : String(userId),
    sequence: a,
    createdAt: a,
    lastSeenAt: l,
    expiresAt: x,
    ip: ip ?? null,
    userAgent: ua ?? null,
    device: d ?? null,
    generation: g,
  }
  return { sessionId: i, record, ...(r && { rotation: r }) }
}
