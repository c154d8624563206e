import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { BoundedMap } from '../../ground/bounded-map.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import { type SessionHost, type StoredSession, tokenOf } from '../../sessions/session-record.ts'
import type { WaitingLogin } from '../../sessions/user-state.ts'
import type { ReadRow } from './document-rows.ts'
import { type DocumentSession, EMPTY, type UserDocument } from './user-document.ts'

/**
 * A session as stored, without what can be derived from its id. Parts at the end are left out if they are 0, which means
 * none.
 */
type WrittenSession = readonly [
  sessionId: string,
  /** Time of admission, which is also the sequence: milliseconds since that of the session before. */
  admitted: number,
  /** Milliseconds from then to the last use. */
  used: number,
  /** Milliseconds from the last use to the expiry. */
  life: number,
  ip?: string | 0,
  userAgent?: string | 0,
  generation?: number,
  device?: string | 0,
  /** The sum of {@link NUMBER}, {@link NOT_TAKEN_UP} and {@link UNCOUNTED}, as far as they apply. */
  flags?: number,
  rotation?: DocumentSession['rotation'],
  provedAt?: number | 0,
  more?: WrittenTerms,
]

/**
 * What few sessions have: the label, how long before its admission the login was, its last moment, its host, and the key
 * to which it is bound.
 */
interface WrittenTerms {
  readonly l?: string | undefined
  readonly a?: number | undefined
  readonly e?: number | undefined
  readonly h?: SessionHost | undefined
  readonly b?: string | undefined
}

/** Flag of a session whose user's id is a number. */
const NUMBER = 1
/** Flag of a session that no request has come with since its login. */
const NOT_TAKEN_UP = 2
/** Flag of a session that does not count toward the limit. */
const UNCOUNTED = 4

interface WrittenDocument {
  readonly s: readonly WrittenSession[]
  /** Ended sessions: names, each with the milliseconds since the one before, in base 36. */
  readonly e?: string
  readonly m?: number
  /** Devices, as in the document. */
  readonly d?: string | undefined
  /** Counts, by name: minutes of the period, the first time, and the milliseconds from each time to the next. */
  readonly c?: Readonly<Record<string, readonly number[]>> | undefined
  readonly p?: readonly WrittenLogin[] | undefined
  readonly x?: UserDocument['erased']
}

type WrittenLogin = readonly [
  name: string,
  expiresAt: number,
  generation: number,
  tries: number,
  isTaken: 0 | 1,
  ...label: string[],
]

/** Encodes a document as the content of a row. */
export function encodeDocument(document: UserDocument): string {
  const { sessions, ended, mark, devices, counts, pending, erased } = document
  const written: WrittenDocument = {
    s: sessions.map((session, index) => encodeSession(session, sessions[index - 1]?.record.sequence)),
    ...(ended.length > 0 && { e: encodeEnded(ended) }),
    ...(mark > 0 && { m: mark }),
    d: devices,
    c: counts && encodeCounts(counts),
    p: pending?.map(encodeLogin),
    x: erased,
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
    const { s, e, m = 0, d: devices, c, p, x: erased } = JSON.parse(text) as WrittenDocument
    const sequences = sumsOf(s.map(([, admitted]) => admitted))
    return {
      sessions: s.map((it, index) => decodeSession(userId, it, sequences[index] as number)),
      ended: e === undefined ? [] : decodeEnded(e),
      mark: m,
      ...(devices !== undefined && { devices }),
      ...(c !== undefined && { counts: decodeCounts(c) }),
      ...(p !== undefined && { pending: p.map(decodeLogin) }),
      ...(erased !== undefined && { erased }),
    }
  } catch {
    throw new SessmgrError(
      'store_unavailable',
      `The row of the user "${userId}" in the sessmgr database is damaged: it is not a document. Delete it, which ends ` +
        "the user's sessions.",
    )
  }
}

function encodeSession(session: DocumentSession, before = 0): WrittenSession {
  const { sessionId, record, rotation, takenUp, provedAt, lifeEnd, endsAt, host } = session
  const { userId, sequence, lastSeenAt, generation, ip, userAgent, device, label, counts, bound } = record
  const a = sequence - record.loggedInAt || undefined
  const hasMore = label !== null || a !== undefined || endsAt !== undefined || host !== undefined || bound !== null
  const written = [
    sessionId,
    sequence - before,
    lastSeenAt - sequence,
    lifeEnd - lastSeenAt,
    ip ?? 0,
    userAgent === null ? 0 : encodeUserAgent(userAgent),
    generation,
    device ?? 0,
    (typeof userId === 'number' ? NUMBER : 0) + (takenUp ? 0 : NOT_TAKEN_UP) + (counts ? 0 : UNCOUNTED),
    rotation ?? 0,
    provedAt ?? 0,
    hasMore ? ({ l: label ?? undefined, a, e: endsAt, h: host, b: bound ?? undefined } satisfies WrittenTerms) : 0,
  ]
  const last = written.findLastIndex((part) => part !== 0)
  return written.slice(0, Math.max(LEAST_PARTS, last + 1)) as unknown as WrittenSession
}

/** How many parts every session has. */
const LEAST_PARTS = 4

function decodeSession(userId: UserId, written: WrittenSession, sequence: number): DocumentSession {
  const [sessionId, , used, life, ip, userAgent, generation = 0, device, flags = 0, ...more] = written
  const [rotation, provedAt, { l: label = null, a = 0, e: endsAt, h: host, b: bound = null } = {} as WrittenTerms] =
    more
  const lastSeenAt = sequence + used
  const lifeEnd = lastSeenAt + life
  if (!Number.isSafeInteger(lifeEnd)) throw new TypeError('A session has no times')
  const record = {
    token: tokenOf(sessionId),
    userId: flags & NUMBER ? Number(userId) : String(userId),
    sequence,
    loggedInAt: sequence - a,
    createdAt: sequence,
    lastSeenAt,
    expiresAt: Math.min(lifeEnd, endsAt ?? lifeEnd),
    ip: typeof ip === 'string' ? ip : null,
    userAgent: typeof userAgent === 'string' ? decodeUserAgent(userAgent) : null,
    device: typeof device === 'string' ? device : null,
    label,
    counts: (flags & UNCOUNTED) === 0,
    actor: host?.[0] ?? null,
    bound,
    generation,
  }
  const ends = { takenUp: (flags & NOT_TAKEN_UP) === 0, lifeEnd, endsAt, host }
  return { sessionId, record, ...ends, ...(rotation && { rotation }), ...(provedAt && { provedAt }) }
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

function encodeCounts(counts: NonNullable<UserDocument['counts']>): NonNullable<WrittenDocument['c']> {
  const encode = (times: readonly number[]) => times.map((at, index) => at - (times[index - 1] ?? 0))
  const entries = Object.entries(counts).map(([name, { minutes, times }]) => [name, [minutes, ...encode(times)]])
  return Object.fromEntries(entries)
}

function decodeCounts(written: NonNullable<WrittenDocument['c']>): NonNullable<UserDocument['counts']> {
  const entries = Object.entries(written).map(([name, [minutes = 0, ...steps]]) => [
    name,
    { minutes, times: sumsOf(steps) },
  ])
  return Object.fromEntries(entries)
}

/** Returns the sum of each number and those before it. */
function sumsOf(steps: readonly number[]): number[] {
  let sum = 0
  return steps.map((step) => (sum += step))
}

function encodeLogin({ name, expiresAt, generation, tries, isTaken, label }: WaitingLogin): WrittenLogin {
  return [name, expiresAt, generation, tries, isTaken ? 1 : 0, ...(label === undefined ? [] : [label])]
}

function decodeLogin([name, expiresAt, generation, tries, isTaken, label]: WrittenLogin): WaitingLogin {
  return { name, expiresAt, generation, tries, isTaken: isTaken === 1, label }
}

/**
 * A compression dictionary of common user agents, most frequent last. User agents are the largest part of a session's
 * record, and the dictionary shortens them to a third. Never change the dictionary. To improve it, add another one:
 * each stored value starts with the number of its dictionary.
 */
const DICTIONARY = Buffer.from(
  'Opera/OPR/ Vivaldi/SamsungBrowser/ CriOS/FxiOS/ EdgA/EdgiOS/ curl/python-requests/node-fetch okhttp/PostmanRuntime/' +
    'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0' +
    'Mozilla/5.0 (Android 14; Mobile; rv:128.0) Gecko/128.0 Firefox/128.0' +
    'Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1' +
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1' +
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36 Edg/130.0.0.0' +
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36' +
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15' +
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0' +
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
)
/** More than any user agent that is stored. */
const MOST_CHARACTERS = 10_000
const PLAIN = '0'
const DEFLATED = '1'

/** Most logins come from the same few user agents, and compressing one takes as long as a call to Redis. */
const KEPT = 500
const encoded = new BoundedMap<string, string>(KEPT)
const decoded = new BoundedMap<string, string>(KEPT)

/** Compresses a user agent, if that makes it shorter. */
function encodeUserAgent(userAgent: string): string {
  return remember(encoded, userAgent, () => {
    const short = deflateRawSync(userAgent, { dictionary: DICTIONARY, level: 9 }).toString('base64url')
    return short.length < userAgent.length ? DEFLATED + short : PLAIN + userAgent
  })
}

/** Decodes what {@link encodeUserAgent} returned. */
function decodeUserAgent(text: string): string {
  if (!text.startsWith(DEFLATED)) return text.slice(1)
  return remember(decoded, text, () => {
    const bytes = Buffer.from(text.slice(1), 'base64url')
    return inflateRawSync(bytes, { dictionary: DICTIONARY, maxOutputLength: MOST_CHARACTERS }).toString()
  })
}

function remember(known: BoundedMap<string, string>, key: string, find: () => string): string {
  const found = known.get(key)
  if (found !== undefined) return found
  const value = find()
  known.set(key, value)
  return value
}

/** How many characters of documents a process caches: enough for about 500 users with ten sessions each. */
const CAPACITY = 1_000_000
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
  read(userId: UserId, { text }: ReadRow): UserDocument {
    if (text === undefined) return EMPTY
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
}

/** Checks whether a session is the same after encoding and decoding. If the clock was set back, it may differ. */
function isAsWritten({ record }: StoredSession): boolean {
  return record.createdAt === record.sequence
}
