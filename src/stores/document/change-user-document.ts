import type { UserId } from '../../ground/user-id.ts'
import {
  type NewSession,
  type SessionRecord,
  type StoredSession,
  type Token,
  tokenOf,
} from '../../sessions/session-record.ts'
import {
  type AdoptedSession,
  type CommitResult,
  type ErasedSessions,
  MOST_AHEAD_MS,
  MOST_SESSIONS,
  type SessionChange,
} from '../../sessions/session-registry.ts'
import { EMPTY, type UserDocument } from './user-document.ts'

/** How long ended sessions are remembered, so that a request in progress cannot register one again. */
const ENDED_MEMORY_MS = 10 * 60_000
/** How many ended sessions are remembered per user. */
const ENDED_MEMORY_COUNT = 32
/** How long unknown sessions are not adopted after all were ended: the longest time that browsers keep a cookie. */
const MARK_MS = 400 * 24 * 60 * 60_000

/** The result of a change, and the new document, which is undefined if nothing changes. */
export interface DocumentChange<Result> {
  readonly result: Result
  readonly next?: UserDocument | undefined
}

/** Changes a document whose expired parts have been removed. */
type Step<Result> = (document: UserDocument, now: number) => DocumentChange<Result>

/** Registers a session and ends others, if the document still has the given version. */
export function commitLogin(userId: UserId, version: string, change: SessionChange): Step<CommitResult> {
  const { admit: session, end, continues, unlessUsedWithin: { tokens = [], ms = 0 } = {} } = change
  return (document, now) => {
    const continued = document.sessions.find(({ record }) => record.token === continues)
    if (continues !== undefined && !(continued && continued.record.generation >= session.generation)) {
      return { result: { committed: false, isOver: true } }
    }
    if (String(document.version) !== version) return { result: { committed: false } }
    const isUsed = ({ record }: StoredSession) => now - record.lastSeenAt < ms && tokens.includes(record.token)
    if (document.sessions.some(isUsed)) return { result: { committed: false } }
    const rest = endTokens(document, end, now)
    const { next, admitted, ended } = admit(rest.next, userId, session, now)
    const all = [...rest.ended, ...ended].toSorted((a, b) => a.record.sequence - b.record.sequence)
    return { result: { committed: true, admitted, ended: all }, next }
  }
}

/** Registers an existing session, unless it has been ended. */
export function adoptSession(userId: UserId, session: NewSession): Step<AdoptedSession | undefined> {
  const token = tokenOf(session.sessionId)
  return (document, now) => {
    const known = document.sessions.find(({ record }) => record.token === token)
    if (known || document.mark > 0 || document.ended.has(nameOf(token))) return { result: known }
    const { next, admitted } = admit(document, userId, session, now)
    return { result: { ...admitted, isNew: true }, next }
  }
}

/** Records that a session was used, and postpones its expiry. */
export function touchSession(token: Token, ttlMs: number, freshMs: number): Step<boolean> {
  return (document, now) => {
    const record = document.sessions.find((it) => it.record.token === token)?.record
    if (!record) return { result: false }
    // The clock may have gone back, for example after a failover to another server.
    const lastSeenAt = Math.max(now, record.createdAt)
    const expiresAt = now + ttlMs
    const isFresh = lastSeenAt - record.lastSeenAt < freshMs && Math.abs(expiresAt - record.expiresAt) < freshMs
    return { result: true, next: isFresh ? undefined : withRecord(document, token, { lastSeenAt, expiresAt }) }
  }
}

/** Moves a session to a later logout generation, if the document still has the given version. */
export function restampSession(token: Token, generation: number, version?: string): Step<boolean> {
  return (document, now) => {
    if (version !== undefined && String(document.version) !== version) return { result: false }
    if (!document.sessions.some(({ record }) => record.token === token)) return { result: false }
    const next = withRecord(document, token, { generation })
    return { result: true, next: { ...next, version: nextVersion(document, now) } }
  }
}

/** Ends the given sessions, or all of them. */
export function endSessions(tokens: readonly Token[] | undefined): Step<readonly StoredSession[]> {
  return (document, now) => {
    const all = document.sessions.map(({ record }) => record.token)
    const { ended, next } = endTokens(document, tokens ?? all, now)
    if (!tokens) return { result: ended, next: { ...next, mark: now + MARK_MS } }
    return { result: ended, next: ended.length > 0 ? next : undefined }
  }
}

/** Ends all sessions except one. */
export function endOtherSessions(keep: Token): Step<readonly StoredSession[] | undefined> {
  return (document, now) => {
    const tokens = document.sessions.map(({ record }) => record.token)
    if (!tokens.includes(keep)) return { result: undefined }
    const others = tokens.filter((token) => token !== keep)
    const { ended, next } = endTokens(document, others, now)
    return { result: ended, next: { ...next, mark: now + MARK_MS } }
  }
}

/**
 * Ends the given sessions, or all of them, and forgets them. The result is undefined, and nothing changes, if the next
 * version could repeat the current one.
 */
export function eraseSessions(
  tokens: readonly Token[] | undefined,
  mayWait: () => boolean,
): Step<ErasedSessions | undefined> {
  return (document, now) => {
    if (document.version >= now && mayWait()) return { result: undefined }
    const all = document.sessions.map(({ record }) => record.token)
    const { ended, next } = endTokens(document, tokens ?? all, now)
    const result = { ended, sequence: now, at: now }
    if (next.sessions.length === 0) return { result, next: EMPTY }
    const forgotten = new Map([...next.ended].filter(([name]) => document.ended.has(name)))
    return { result, next: ended.length > 0 ? { ...next, ended: forgotten } : undefined }
  }
}

/** Names an ended session by the first 64 bits of its token, which are unique among the sessions of one user. */
function nameOf(token: Token): string {
  return Buffer.from(token.slice(0, 16), 'hex').toString('base64url')
}

/** Returns a version that the document has never had. */
function nextVersion({ version }: UserDocument, now: number): number {
  return Math.max(version + 1, now)
}

/**
 * Returns the sequence of a new session, which is also the time of its admission. Usually it is the new version, but if
 * the clock was set back, versions are ahead for as long as it was wrong.
 */
function nextSequence({ sessions }: UserDocument, version: number, now: number): number {
  if (version <= now + MOST_AHEAD_MS) return version
  return Math.max(now, (sessions.at(-1)?.record.sequence ?? 0) + 1)
}

function withRecord(document: UserDocument, token: Token, changes: Partial<SessionRecord>): UserDocument {
  const sessions = document.sessions.map((it) =>
    it.record.token === token ? { ...it, record: { ...it.record, ...changes } } : it,
  )
  return { ...document, sessions }
}

/** Ends sessions and remembers them as ended. The version changes only if one of them existed. */
function endTokens(document: UserDocument, tokens: readonly Token[], now: number) {
  const named = new Set(tokens)
  const isNamed = ({ record }: StoredSession) => named.has(record.token)
  const ended = document.sessions.filter(isNamed)
  if (ended.length === 0) return { ended, next: document }
  const names = ended.map(({ record }) => nameOf(record.token))
  const earlier = [...document.ended].filter(([name]) => !names.includes(name))
  const remembered = [...earlier, ...names.map((name) => [name, now + ENDED_MEMORY_MS] as const)]
  const next = {
    ...document,
    version: nextVersion(document, now),
    sessions: document.sessions.filter((it) => !isNamed(it)),
    ended: new Map(remembered.slice(-ENDED_MEMORY_COUNT)),
  }
  return { ended, next }
}

/** Registers a session as the newest, and ends the oldest ones beyond the maximum per user. */
function admit(document: UserDocument, userId: UserId, { sessionId, ttlMs, ...rest }: NewSession, now: number) {
  const token = tokenOf(sessionId)
  const version = nextVersion(document, now)
  const sequence = nextSequence(document, version, now)
  const life = Math.max(1, Math.round(ttlMs))
  const times = { createdAt: sequence, lastSeenAt: sequence, expiresAt: sequence + life }
  const { ip, userAgent, device, generation } = rest
  const record = { token, userId, sequence, ...times, ip, userAgent, device, generation }
  const admitted: StoredSession = { sessionId, record }
  const others = document.sessions.filter((it) => it.record.token !== token)
  const remembered = [...document.ended].filter(([name]) => name !== nameOf(token))
  const sessions = [...others, admitted]
  const excess = sessions.slice(0, Math.max(0, sessions.length - MOST_SESSIONS)).map((it) => it.record.token)
  const full = { ...document, version, sessions, ended: new Map(remembered) }
  const { ended, next } = endTokens(full, excess, now)
  return { admitted, ended, next }
}
