import { SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import { type StoredSession, tokenOf } from '../../sessions/session-record.ts'
import { MOST_AHEAD_MS } from '../../sessions/session-registry.ts'

/** The data of one user. Immutable: each change creates a new document. */
export interface UserDocument {
  /** Changes whenever a session is added or ended, but not when one is used. */
  readonly version: number
  /** Oldest admission first. */
  readonly sessions: readonly StoredSession[]
  /** Until when each ended session is remembered, by name, in the order in which they ended. */
  readonly ended: ReadonlyMap<string, number>
  /** Until when unknown sessions are not adopted. */
  readonly mark: number
}

/** The document of an unknown user. */
export const EMPTY: UserDocument = { version: 0, sessions: [], ended: new Map(), mark: 0 }

/** A stored session with short names, without anything that follows from its id. */
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
}

interface WrittenDocument {
  readonly v: number
  readonly s: readonly WrittenSession[]
  readonly e?: readonly (readonly [string, number])[]
  readonly m?: number
}

/** Encodes a document as the content of a row. */
export function encodeDocument({ version, sessions, ended, mark }: UserDocument): string {
  const written: WrittenDocument = {
    v: version,
    s: sessions.map(encodeSession),
    ...(ended.size > 0 && { e: [...ended] }),
    ...(mark > 0 && { m: mark }),
  }
  return JSON.stringify(written)
}

/**
 * Decodes the content of a row.
 *
 * @throws SessmgrError `store_unavailable` if it is not a document.
 */
export function decodeDocument(userId: UserId, text: string): UserDocument {
  try {
    const { v, s, e = [], m = 0 } = JSON.parse(text) as WrittenDocument
    if (!Number.isSafeInteger(v)) throw new TypeError('It has no version')
    return { version: v, sessions: s.map((it) => decodeSession(userId, it)), ended: new Map(e), mark: m }
  } catch {
    const cure = `Delete the row, which ends all sessions of the user "${userId}"`
    throw new SessmgrError(
      'store_unavailable',
      `A row in the sessmgr database is damaged: it is not a document. ${cure}.`,
    )
  }
}

/** Checks whether a session was used before the database's clock was set back. */
export function isAhead({ sessions }: UserDocument, now: number): boolean {
  return sessions.some(({ record }) => record.lastSeenAt > now + MOST_AHEAD_MS)
}

/** Moves times in the future to now, so that no session lives longer because of a clock that was wrong for a while. */
function setBack(sessions: readonly StoredSession[], now: number): readonly StoredSession[] {
  let ahead = 0
  return sessions.map(({ sessionId, record }) => {
    // Keeps the order of the sessions.
    const sequence = record.sequence > now ? now + ++ahead : record.sequence
    const lastSeenAt = Math.max(sequence, Math.min(record.lastSeenAt, now))
    const expiresAt = lastSeenAt + record.expiresAt - record.lastSeenAt
    return { sessionId, record: { ...record, sequence, createdAt: sequence, lastSeenAt, expiresAt } }
  })
}

/** Returns a document without its expired parts, and without times in the future. */
export function openDocument(document: UserDocument, now: number): UserDocument {
  const sessions = isAhead(document, now) ? setBack(document.sessions, now) : document.sessions
  return {
    version: document.version,
    sessions: sessions.filter(({ record }) => record.expiresAt > now),
    ended: new Map([...document.ended].filter(([, until]) => until > now)),
    mark: document.mark > now ? document.mark : 0,
  }
}

/** Returns when the last part of a document expires. */
export function lastExpiry({ sessions, ended, mark }: UserDocument): number {
  return Math.max(mark, ...sessions.map(({ record }) => record.expiresAt), ...ended.values())
}

function encodeSession({ sessionId, record }: StoredSession): WrittenSession {
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
  }
}

function decodeSession(userId: UserId, { i, a, l, x, g, n, ip, ua, d }: WrittenSession): StoredSession {
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
  return { sessionId: i, record }
}
