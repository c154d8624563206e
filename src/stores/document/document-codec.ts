import { BoundedMap } from '../../ground/bounded-map.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import { type StoredSession, tokenOf } from '../../sessions/session-record.ts'
import type { ReadRow } from './document-rows.ts'
import { type DocumentSession, EMPTY, type UserDocument } from './user-document.ts'

/** A session as stored: with short names, and without what can be derived from its id. */
interface WrittenSession {
  readonly i: string
  /** Time of admission, which is also the sequence. */
  readonly a: number
  /** Milliseconds from then to the last use. */
  readonly l: number
  /** Milliseconds from the last use to the expiry. */
  readonly x: number
  /** Generation, unless it is 0. */
  readonly g?: number
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
  /** Ended sessions: names, each with the milliseconds since the one before, in base 36. */
  readonly e?: string
  readonly m?: number
}

/** Encodes a document as the content of a row. */
export function encodeDocument({ version, sessions, ended, mark }: UserDocument): string {
  const written: WrittenDocument = {
    v: version,
    s: sessions.map(encodeSession),
    ...(ended.length > 0 && { e: encodeEnded(ended) }),
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
    const { v, s, e, m = 0 } = JSON.parse(text) as WrittenDocument
    if (!Number.isSafeInteger(v)) throw new TypeError('It has no version')
    return {
      version: v,
      sessions: s.map((it) => decodeSession(userId, it)),
      ended: e === undefined ? [] : decodeEnded(e),
      mark: m,
    }
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
    l: lastSeenAt - sequence,
    x: expiresAt - lastSeenAt,
    ...(generation > 0 && { g: generation }),
    ...(typeof userId === 'number' && { n: 1 }),
    ...(ip !== null && { ip }),
    ...(userAgent !== null && { ua: userAgent }),
    ...(device !== null && { d: device }),
    ...(rotation && { r: rotation }),
  }
}

function decodeSession(userId: UserId, { i, a, l, x, g, n, ip, ua, d, r }: WrittenSession): DocumentSession {
  if (!Number.isSafeInteger(a + l + x)) throw new TypeError('A session has no times')
  const record = {
    token: tokenOf(i),
    userId: n ? Number(userId) : String(userId),
    sequence: a,
    createdAt: a,
    lastSeenAt: a + l,
    expiresAt: a + l + x,
    ip: ip ?? null,
    userAgent: ua ?? null,
    device: d ?? null,
    generation: g ?? 0,
  }
  return { sessionId: i, record, ...(r && { rotation: r }) }
}

/** Length of the name of an ended session. */
const NAME_LENGTH = 11

function encodeEnded(ended: UserDocument['ended']): string {
  let before = 0
  const entries = ended.map(([name, until]) => {
    const entry = name + (until - before).toString(36)
    before = until
    return entry
  })
  return entries.join()
}

function decodeEnded(text: string): UserDocument['ended'] {
  let before = 0
  return text.split(',').map((entry) => {
    before += Number.parseInt(entry.slice(NAME_LENGTH), 36)
    return [entry.slice(0, NAME_LENGTH), before] as const
  })
}

/** How many characters of documents a process caches: enough for about 1,000 users with ten sessions each. */
const CAPACITY = 4_000_000
/** Weight of an entry besides its content, in characters. */
const ENTRY_WEIGHT = 500

interface Parsed {
  readonly text: string
  readonly document: UserDocument
}

/**
 * Decodes rows, and remembers the last text and document of each user, so that unchanged text is not decoded again.
 *
 * Comparing revisions is not enough: after a manual repair, the same revision may have other content.
 */
export class DocumentTexts {
  readonly #parsed = new BoundedMap<string, Parsed>(CAPACITY, ({ text }) => ENTRY_WEIGHT + text.length)

  /** @throws SessmgrError `store_unavailable` if the row is not a document. */
  read(userId: UserId, { text, revision }: ReadRow): UserDocument {
    if (text === undefined) return revision === undefined ? EMPTY : { ...EMPTY, version: versionOfEmpty(revision) }
    const parsed = this.#parsed.get(String(userId))
    if (parsed?.text === text) return parsed.document
    const document = decodeDocument(userId, text)
    this.#parsed.set(String(userId), { text, document })
    return document
  }

  /** Remembers a document that was just written. */
  keep(userId: UserId, text: string, document: UserDocument): void {
    if (document.sessions.every(isAsWritten)) this.#parsed.set(String(userId), { text, document })
  }

  drop(userId: UserId): void {
    this.#parsed.delete(String(userId))
  }
}

/** Returns a version that no document with sessions has, and no other empty row. */
function versionOfEmpty(revision: string): number {
  return -1 - Number.parseInt(revision, 16)
}

/** Checks whether a session is the same after encoding and decoding. If the clock was set back, it may differ. */
function isAsWritten({ record }: StoredSession): boolean {
  return record.createdAt === record.sequence
}
