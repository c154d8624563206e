import type { UserId } from '../../ground/user-id.ts'
import {
  type NewSession,
  type SessionHost,
  type SessionRecord,
  type StoredSession,
  type Token,
  tokenOf,
  UNPROVED,
} from '../../sessions/session-record.ts'
import {
  type AdoptedSession,
  type CommitResult,
  type ErasedSessions,
  MOST_SESSIONS,
  type Rotation,
  type RotationChange,
  type SessionChange,
  type SessionUse,
  type UserSessions,
} from '../../sessions/session-registry.ts'
import {
  afterEnds,
  justErased,
  openState,
  type StateChange,
  stateExpiry,
  type UserState,
  withDevice,
} from '../../sessions/user-state.ts'

/** A last use further in the future than this shows that the store's clock was set back. */
const MOST_AHEAD_MS = 5000
/** How long ended sessions are remembered, so that a request in progress cannot register one again. */
const ENDED_MEMORY_MS = 10 * 60_000
/** How many ended sessions are remembered per user. */
const ENDED_MEMORY_COUNT = 32
/**
 * How long unknown sessions are not adopted once all sessions, or all except one, were ended: as long as browsers keep
 * cookies.
 */
const MARK_MS = 400 * 24 * 60 * 60_000

/** A session of a document. */
export interface DocumentSession extends StoredSession {
  /**
   * Number of the current refresh token, time of the last rotation, and the last two bursts of rotations, latest first.
   * Undefined before the first rotation.
   */
  readonly rotation?: readonly [number: number, at: number, bursts: readonly Burst[]] | undefined
}

/** A burst of rotations within half a grace period: the first number that was presented, and its time. */
type Burst = readonly [first: number, began: number]
type Rotated = NonNullable<DocumentSession['rotation']>

/** The data of one user. Immutable: each change creates a new document. */
export interface UserDocument extends UserState {
  /** Oldest admission first. */
  readonly sessions: readonly DocumentSession[]
  /** The names of ended sessions, and until when each is remembered, in the order in which they ended. */
  readonly ended: readonly (readonly [name: string, until: number])[]
  /** Time until which unknown sessions are not adopted, or 0. */
  readonly mark: number
}

/** The document of an unknown user. */
export const EMPTY: UserDocument = { sessions: [], ended: [], mark: 0 }

/** The time of a change, and the sequence that the store assigns to it. */
export interface Moment {
  readonly now: number
  /** The sequence of a new session. */
  readonly sequence: number
  /** The time of admission of a new session. */
  readonly createdAt: number
}

/** The result of a change, and the new document, which is undefined if nothing changes. */
export interface DocumentChange<Result> {
  readonly result: Result
  readonly next?: UserDocument | undefined
}

/** A change to an opened document. */
export type Step<Result> = (document: UserDocument, moment: Moment) => DocumentChange<Result>

/** Returns a document without expired parts or times in the future, or the same document if it has none. */
export function openDocument(document: UserDocument, now: number): UserDocument {
  const { sessions, ended, mark } = document
  const opened = openState(document, now)
  const isBack = isAhead(document, now)
  let isCurrent = opened === document && !isBack && (mark === 0 || mark > now)
  // Every call runs this, so it checks only the first ended session, which is forgotten first.
  if (ended[0] && ended[0][1] <= now) isCurrent = false
  for (const { lifeEnd } of sessions) if (lifeEnd <= now) isCurrent = false
  if (isCurrent) return document
  const [latestEnded, latestMark] = isBack ? [now + ENDED_MEMORY_MS, now + MARK_MS] : [Infinity, Infinity]
  return {
    ...opened,
    sessions: (isBack ? setBack(sessions, now) : sessions).filter(({ lifeEnd }) => lifeEnd > now),
    ended: ended
      .filter(([, until]) => until > now)
      .map(([name, until]) => [name, Math.min(until, latestEnded)] as const),
    mark: mark > now ? Math.min(mark, latestMark) : 0,
  }
}

/** Checks whether something happened in the future, because the store's clock was set back. */
export function isAhead({ sessions, ended, mark }: UserDocument, now: number): boolean {
  const latest = now + MOST_AHEAD_MS
  if (mark > latest + MARK_MS || (ended.at(-1)?.[1] ?? 0) > latest + ENDED_MEMORY_MS) return true
  for (const { record, provedAt = 0 } of sessions) if (record.lastSeenAt > latest || provedAt > latest) return true
  return false
}

/** Moves times in the future to now, so that a clock that was ahead for a while extends no session. */
function setBack(sessions: readonly DocumentSession[], now: number): readonly DocumentSession[] {
  let ahead = 0
  return sessions.map(({ record, rotation, provedAt, lifeEnd, endsAt, ...rest }) => {
    // Add 1 ms for each, to keep the order of the sessions.
    const createdAt = record.createdAt > now ? now + ++ahead : record.createdAt
    // A sequence that equals the time of admission stays equal.
    const sequence = Math.min(record.sequence, createdAt)
    const lastSeenAt = Math.max(createdAt, Math.min(record.lastSeenAt, now))
    const loggedInAt = Math.min(record.loggedInAt, createdAt)
    const ends = {
      lifeEnd: lastSeenAt + lifeEnd - record.lastSeenAt,
      endsAt: endsAt && loggedInAt + endsAt - record.loggedInAt,
    }
    const times = { sequence, loggedInAt, createdAt, lastSeenAt, expiresAt: expiryOf(ends) }
    return {
      ...rest,
      ...ends,
      record: { ...record, ...times },
      ...(provedAt && { provedAt: Math.min(provedAt, now) }),
      ...(rotation && { rotation: setBackTo(lastSeenAt, rotation) }),
    }
  })
}

function setBackTo(latest: number, [number, at, bursts]: Rotated): Rotated {
  const moved = bursts.map(([first, began]): Burst => [first, Math.min(began, latest)])
  return [number, Math.min(at, latest), moved]
}

/** Returns when the last part of a document expires, or 0 if it has no parts. */
export function lastExpiry(document: UserDocument): number {
  const { sessions, ended, mark } = document
  let last = Math.max(mark, stateExpiry(document))
  for (const { lifeEnd } of sessions) last = Math.max(last, lifeEnd)
  for (const [, until] of ended) last = Math.max(last, until)
  return last
}

/** What a request needs to know about a session, in milliseconds by the store's clock. */
export interface SessionLife {
  readonly generation: number
  readonly lastSeenAt: number
  readonly expiresAt: number
  readonly lifeEnd: number
  readonly takenUp: boolean
  readonly host: SessionHost | undefined
  readonly bound: string | undefined
  /** Whether it is the user's only session. */
  readonly isOnly: boolean
}

/** Finds a session, which may have expired. Returns undefined if it is unknown. */
export function lifeIn(document: UserDocument, token: Token): SessionLife | undefined {
  const session = document.sessions[placeOf(document, token)]
  if (!session) return undefined
  const { takenUp, lifeEnd, host, record } = session
  const { generation, lastSeenAt, expiresAt, bound } = record
  const isOnly = document.sessions.length === 1
  return { generation, lastSeenAt, expiresAt, lifeEnd, takenUp, host, bound: bound ?? undefined, isOnly }
}

/** Returns the use of a session, as of when this process's clock was at `at` and the store's at `now`. */
export function useAt(
  { generation, lastSeenAt, expiresAt, lifeEnd, takenUp, host, bound }: SessionLife,
  at: number,
  now: number,
): SessionUse {
  const times = { usedAt: at - (now - lastSeenAt), ttlMs: lifeEnd - lastSeenAt, isAged: expiresAt <= now }
  return { generation, ...times, takenUp, host, bound }
}

/** Returns what a read finds in an opened document. */
export function readDocument({ sessions, mark, erased }: UserDocument, now: number): UserSessions {
  const isLive = ({ record }: StoredSession) => record.expiresAt > now
  const areLive = sessions.every(isLive)
  const aged = areLive ? [] : sessions.filter((session) => !isLive(session))
  return { sessions: areLive ? sessions : sessions.filter(isLive), aged, mark, isErased: erased !== undefined, now }
}

/** Returns a step that registers a session and ends others, if the document is still as it was read. */
export function commitLogin(userId: UserId, { admit: session, end }: SessionChange) {
  return (document: UserDocument, moment: Moment, isAsRead: boolean): DocumentChange<CommitResult> => {
    if (document.erased) throw justErased()
    if (!isAsRead) return { result: { committed: false } }
    const { admitted, ended, next } = admit(document, userId, session, end, moment)
    const committed = { committed: true, admitted, ended } as const
    const { device } = session
    if (!device) return { result: committed, next }
    const others = document.sessions.map(({ record }) => record.device)
    const { devices, newDevice } = withDevice(document, device, others, moment.now)
    return { result: { ...committed, newDevice }, next: { ...next, devices } }
  }
}

/** Returns a step that registers an existing session, unless it was ended before. */
export function adoptSession(userId: UserId, session: NewSession): Step<AdoptedSession | undefined> {
  const token = tokenOf(session.sessionId)
  return (document, moment) => {
    if (document.erased) throw justErased()
    const known = document.sessions[placeOf(document, token)]
    if (known && known.record.expiresAt <= moment.now) return { result: undefined }
    if (known || document.mark > 0 || hasEnded(document, token)) return { result: known }
    const { admitted, next } = admit(document, userId, { ...session, provedAt: UNPROVED }, [], moment)
    return { result: { ...admitted, isNew: true }, next }
  }
}

/** Returns a step that records that a session was used, and postpones its expiry if `ttlMs` is given. */
export function touchSession(token: Token, ttlMs: number | undefined, freshMs = 0, maxAgeMs?: number): Step<boolean> {
  return (document, { now }) => {
    const place = livePlaceOf(document, token, now)
    const session = document.sessions[place]
    if (!session) return { result: false }
    const { record } = session
    // The clock may have gone back, for example after a failover to another server.
    const lastSeenAt = Math.max(now, record.createdAt)
    const ends = endsOf(session, ttlMs === undefined ? session.lifeEnd : now + lifeOf(ttlMs), maxAgeMs)
    const isSameLife = Math.abs(ends.lifeEnd - session.lifeEnd) < freshMs && ends.endsAt === session.endsAt
    const isFresh = lastSeenAt - record.lastSeenAt < freshMs && isSameLife
    const expiresAt = expiryOf(ends)
    const next = isFresh ? undefined : withRecord(document, place, { lastSeenAt, expiresAt }, ends)
    return { result: expiresAt > now, next }
  }
}

/** When a session ends by its life, and by its age. */
type SessionEnds = Pick<StoredSession, 'lifeEnd' | 'endsAt'>

/** @param maxAgeMs If undefined, what was set before stays. */
function endsOf({ record, endsAt }: DocumentSession, lifeEnd: number, maxAgeMs: number | undefined): SessionEnds {
  if (maxAgeMs === undefined) return { lifeEnd, endsAt }
  return { lifeEnd, endsAt: maxAgeMs > 0 ? record.loggedInAt + maxAgeMs : undefined }
}

function expiryOf({ lifeEnd, endsAt = lifeEnd }: SessionEnds): number {
  return Math.min(lifeEnd, endsAt)
}

/** Returns a step that records that a request has come with a session. */
export function takeUpSession(token: Token): Step<boolean> {
  return (document, { now }) => {
    const place = livePlaceOf(document, token, now)
    if (document.sessions[place]?.takenUp !== false) return { result: place !== -1 }
    return { result: true, next: withRecord(document, place, {}, { takenUp: true }) }
  }
}

/** Returns a step that replaces the refresh token of a session. */
export function rotateSession(
  token: Token,
  presented: number,
  { graceMs, ttlMs, maxAgeMs }: RotationChange,
): Step<Rotation | undefined> {
  return (document, { now }) => {
    const place = livePlaceOf(document, token, now)
    const session = document.sessions[place]
    if (!session) return { result: undefined }
    const { record, rotation: [number, at, bursts] = [0, record.createdAt, []] } = session
    if (presented < number) {
      const isWithin = ([first, began]: Burst) => presented >= first && now - began < graceMs
      const isRepeated = isWithin([number - 1, at]) || bursts.some(isWithin)
      return { result: { outcome: isRepeated ? 'repeated' : 'reused', number, at, endsAt: session.endsAt } }
    }
    const lastSeenAt = Math.max(now, record.createdAt)
    const [latest] = bursts
    // Two bursts are kept, so that each token can be repeated for at least half the grace period.
    const isLong = latest === undefined || lastSeenAt - latest[1] >= graceMs / 2
    const burst: Burst = [presented, lastSeenAt]
    const rotation: Rotated = [presented + 1, lastSeenAt, isLong ? [burst, ...(latest ? [latest] : [])] : bursts]
    const ends = endsOf(session, now + lifeOf(ttlMs), maxAgeMs)
    const times = { lastSeenAt, expiresAt: expiryOf(ends) }
    const result = { outcome: 'rotated', number: rotation[0], at: lastSeenAt, endsAt: ends.endsAt } as const
    const next = withRecord(document, place, times, { ...ends, rotation })
    return { result: times.expiresAt > now ? result : undefined, next }
  }
}

/** Returns a step that ends the given sessions, or all of them. An erased user needs no mark: nothing is adopted. */
export function endSessions(tokens: readonly Token[] | undefined): Step<readonly StoredSession[]> {
  return (document, moment) => {
    const { ended, next } = endTokens(document, tokens ?? liveTokensIn(document, moment.now), moment)
    if (!tokens && document.erased) return { result: ended }
    if (!tokens) return { result: ended, next: { ...afterEnds(next), mark: markAfter(document, moment.now) } }
    return { result: ended, next: ended.length > 0 ? next : undefined }
  }
}

/**
 * Returns a step that ends the session of a login that has failed. It always writes, so that a write of that login which
 * is still on its way comes too late.
 */
export function undoLogin(token: Token): Step<void> {
  return (document, moment) => ({ result: undefined, next: endTokens(document, [token], moment).next })
}

/** Returns a mark that differs from the one before. */
function markAfter({ mark }: UserDocument, now: number): number {
  return mark === now + MARK_MS ? mark + 1 : now + MARK_MS
}

/** Returns a step that ends all sessions except one. */
export function endOtherSessions(keep: Token, keepsChoices?: boolean): Step<readonly StoredSession[] | undefined> {
  return (document, moment) => {
    const tokens = liveTokensIn(document, moment.now)
    if (!tokens.includes(keep)) return { result: undefined }
    const others = tokens.filter((token) => token !== keep)
    const { ended, next } = endTokens(document, others, moment)
    return { result: ended, next: { ...afterEnds(next, keepsChoices), mark: markAfter(document, moment.now) } }
  }
}

/** Returns a step that ends all sessions, and removes everything stored about the user. */
export function eraseUser(quietMs: number): Step<ErasedSessions> {
  return ({ sessions: ended }, { now, createdAt }) => ({
    result: { ended, at: createdAt },
    next: { ...EMPTY, erased: [now, quietMs] },
  })
}

/** Returns a step that changes what is stored about a user, but neither registers nor ends a session. */
export function changeState<Result>(change: StateChange<Result>): Step<Result> {
  return (document, { now }) => {
    const { result, next } = change(document, now)
    if (next && document.erased) throw justErased()
    return { result, next: next && { ...document, ...next } }
  }
}

/** Returns the index of a session, or -1. Uses a plain loop, because every request runs this. */
function placeOf({ sessions }: UserDocument, token: Token): number {
  for (let place = sessions.length - 1; place >= 0; place--) if (sessions[place]?.record.token === token) return place
  return -1
}

/** Returns the index of a session that is live, or -1. */
function livePlaceOf(document: UserDocument, token: Token, now: number): number {
  const place = placeOf(document, token)
  return (document.sessions[place]?.record.expiresAt ?? 0) > now ? place : -1
}

function liveTokensIn({ sessions }: UserDocument, now: number): readonly Token[] {
  return sessions.filter(({ record }) => record.expiresAt > now).map(({ record }) => record.token)
}

function lifeOf(ttlMs: number): number {
  return Math.max(1, Math.round(ttlMs))
}

function withRecord(
  document: UserDocument,
  place: number,
  changes: Partial<SessionRecord>,
  others?: Partial<DocumentSession>,
): UserDocument {
  const stored = document.sessions[place] as DocumentSession
  const changed = { ...stored, ...others, record: { ...stored.record, ...changes } }
  return { ...document, sessions: document.sessions.with(place, changed) }
}

/** Ends sessions and remembers them as ended. */
function endTokens(document: UserDocument, tokens: readonly Token[], { now }: Moment) {
  const { ended, left } = split(document, tokens)
  if (ended.length === 0) return { ended, next: document }
  return { ended, next: { ...document, sessions: left, ended: remembered(document, ended, now) } }
}

/** Registers a session as the newest. Ends the given sessions, and the oldest ones beyond the maximum per user. */
function admit(
  document: UserDocument,
  userId: UserId,
  { sessionId, ttlMs, takenUp = true, provedAt, maxAgeMs = 0, host, ...session }: NewSession,
  end: readonly Token[],
  { now, sequence, createdAt }: Moment,
) {
  const token = tokenOf(sessionId)
  const { label = null, counts = true, bound = null, ip, userAgent, device, generation } = session
  const loggedInAt = Math.min(session.loggedInAt ?? createdAt, createdAt)
  const ends = { lifeEnd: createdAt + lifeOf(ttlMs), endsAt: maxAgeMs > 0 ? loggedInAt + maxAgeMs : undefined }
  const times = { loggedInAt, createdAt, lastSeenAt: createdAt, expiresAt: expiryOf(ends) }
  const login = { ip, userAgent, device, label, counts, actor: host?.[0] ?? null, bound }
  const record = { token, userId, sequence, ...times, ...login, generation }
  const admitted: StoredSession = { sessionId, record, takenUp, ...ends, host, ...(provedAt && { provedAt }) }
  const { ended, left } = split(document, end, token)
  const excess = left.length + 1 - MOST_SESSIONS
  if (excess > 0) {
    ended.push(...left.splice(0, excess))
    ended.sort((a, b) => a.record.sequence - b.record.sequence)
  }
  left.push(admitted)
  return {
    admitted,
    ended,
    next: { ...document, sessions: left, ended: remembered(document, ended, now, token) },
  }
}

/** Splits the sessions into those with these tokens and the rest. Leaves out the `replaced` session. */
function split({ sessions }: UserDocument, tokens: readonly Token[], replaced?: Token) {
  const named = new Set(tokens)
  const ended: DocumentSession[] = []
  const left: DocumentSession[] = []
  for (const session of sessions) {
    if (named.has(session.record.token)) ended.push(session)
    else if (session.record.token !== replaced) left.push(session)
  }
  return { ended, left }
}

/** Returns the ended sessions to remember, with `ended` added and `registered` removed. */
function remembered(document: UserDocument, ended: readonly StoredSession[], now: number, registered?: Token) {
  if (ended.length + document.ended.length === 0) return document.ended
  const all = [...document.ended]
  for (const { record } of ended) all.push([nameOf(record.token), now + ENDED_MEMORY_MS])
  if (registered === undefined) return all.slice(-ENDED_MEMORY_COUNT)
  const name = nameOf(registered)
  return all.filter((entry) => entry[0] !== name).slice(-ENDED_MEMORY_COUNT)
}

/** Returns the name of an ended session: the first 64 bits of its token, which are unique among a user's sessions. */
function nameOf(token: Token): string {
  return Buffer.from(token.slice(0, 16), 'hex').toString('base64url')
}

function hasEnded({ ended }: UserDocument, token: Token): boolean {
  if (ended.length === 0) return false
  const name = nameOf(token)
  return ended.some((entry) => entry[0] === name)
}
