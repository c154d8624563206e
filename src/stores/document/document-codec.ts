import { SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import { tokenOf } from '../../sessions/session-record.ts'
import type { DocumentSession, UserDocument } from './user-document.ts'

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
