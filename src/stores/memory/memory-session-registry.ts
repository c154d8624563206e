import type { Clock } from '../../ground/clock.ts'
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
  type SessionRegistry,
  type UserSessions,
} from '../../sessions/session-registry.ts'

/** How long ended tokens are remembered, so that a request in progress cannot register one again. */
const ENDED_MEMORY_MS = 10 * 60_000
/** How many ended tokens are remembered per user. */
const ENDED_MEMORY_COUNT = 32

type Unused = NonNullable<SessionChange['unlessUsedWithin']>

/** The data of one user. */
interface UserSlot {
  version: number
  readonly sessions: Map<Token, StoredSession>
  /** Until when each ended token is remembered. */
  readonly ended: Map<Token, number>
}

/**
 * A session registry in memory.
 *
 * Each method is atomic because it does its work before it first yields.
 */
export class MemorySessionRegistry implements SessionRegistry {
  readonly #clock: Clock
  readonly #slots = new Map<string, UserSlot>()
  readonly #marks = new AdoptionMarks()
  // One counter serves all users as both version and sequence, neither of which may repeat for a user.
  #counter = 0
  #sweep: Iterator<string> = [][Symbol.iterator]()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wipe(): void {
    this.#slots.clear()
    this.#marks.clear()
  }

  async read(userId: UserId): Promise<UserSessions> {
    const now = this.#clock.now()
    const slot = this.#slot(userId, now)
    return { sessions: [...(slot?.sessions.values() ?? [])], version: String(slot?.version ?? 0), now }
  }

  async generationOf(userId: UserId, token: Token): Promise<number | undefined> {
    return this.#live(userId, token, this.#clock.now())?.stored.record.generation
  }

  async commit(userId: UserId, version: string, change: SessionChange): Promise<CommitResult> {
    const now = this.#clock.now()
    const present = this.#slot(userId, now)
    if (change.continues !== undefined) {
      const continued = present?.sessions.get(change.continues)
      if (!continued || continued.record.generation < change.admit.generation) return { committed: false, isOver: true }
    }
    if (String(present?.version ?? 0) !== version) return { committed: false }
    if (change.unlessUsedWithin && present && wasUsed(present, change.unlessUsedWithin, now))
      return { committed: false }
    const slot = this.#openSlot(userId, now)
    const admitted = this.#stored(userId, change.admit, now)
    const ended = endInSlot(slot, change.end, now)
    // A replaced token moves to the end, because it is now the newest.
    slot.ended.delete(admitted.record.token)
    slot.sessions.delete(admitted.record.token)
    slot.sessions.set(admitted.record.token, admitted)
    return { committed: true, admitted, ended: oldestFirst([...ended, ...boundSlot(slot, now)]) }
  }

  async adopt(userId: UserId, session: NewSession): Promise<AdoptedSession | undefined> {
    const now = this.#clock.now()
    const token = tokenOf(session.sessionId)
    const present = this.#slot(userId, now)
    const known = present?.sessions.get(token)
    if (known || present?.ended.has(token) || this.#marks.has(userId, now)) return known
    const slot = this.#openSlot(userId, now)
    const adopted = this.#stored(userId, session, now)
    slot.sessions.set(token, adopted)
    boundSlot(slot, now)
    return { ...adopted, isNew: true }
  }

  async touch(userId: UserId, token: Token, ttlMs: number): Promise<boolean> {
    const now = this.#clock.now()
    return this.#update(userId, token, now, { lastSeenAt: now, expiresAt: now + ttlMs }) !== undefined
  }

  async restamp(userId: UserId, token: Token, generation: number, version?: string): Promise<boolean> {
    const now = this.#clock.now()
    if (version !== undefined && String(this.#slot(userId, now)?.version ?? 0) !== version) return false
    const slot = this.#update(userId, token, now, { generation })
    if (slot) slot.version = ++this.#counter
    return slot !== undefined
  }

  async end(userId: UserId, tokens?: readonly Token[]): Promise<readonly StoredSession[]> {
    const now = this.#clock.now()
    if (!tokens) this.#marks.set(userId, now)
    const slot = this.#slot(userId, now)
    return slot ? this.#endNow(slot, tokens ?? [...slot.sessions.keys()], now) : []
  }

  async endOthers(userId: UserId, keep: Token): Promise<readonly StoredSession[] | undefined> {
    const now = this.#clock.now()
    const slot = this.#slot(userId, now)
    if (!slot?.sessions.has(keep)) return undefined
    this.#marks.set(userId, now)
    const others = [...slot.sessions.keys()].filter((token) => token !== keep)
    return this.#endNow(slot, others, now)
  }

  async erase(userId: UserId, tokens?: readonly Token[]): Promise<ErasedSessions> {
    const at = this.#clock.now()
    const slot = this.#slot(userId, at)
    const ended = slot ? this.#endNow(slot, tokens ?? [...slot.sessions.keys()], at) : []
    for (const { record } of ended) slot?.ended.delete(record.token)
    if (!slot || slot.sessions.size === 0) {
      this.#slots.delete(String(userId))
      this.#marks.delete(userId)
    }
    return { ended, sequence: ++this.#counter, at }
  }

  #endNow(slot: UserSlot, tokens: readonly Token[], now: number): readonly StoredSession[] {
    const ended = endInSlot(slot, tokens, now)
    if (ended.length > 0) slot.version = ++this.#counter
    return oldestFirst(ended)
  }

  /** Finds one session without looking at the others, because a user may have many. */
  #live(userId: UserId, token: Token, now: number): { slot: UserSlot; stored: StoredSession } | undefined {
    const slot = this.#slots.get(String(userId))
    const stored = slot?.sessions.get(token)
    return slot && stored && stored.record.expiresAt > now ? { slot, stored } : undefined
  }

  #update(userId: UserId, token: Token, now: number, changes: Partial<SessionRecord>): UserSlot | undefined {
    const live = this.#live(userId, token, now)
    live?.slot.sessions.set(token, { ...live.stored, record: { ...live.stored.record, ...changes } })
    return live?.slot
  }

  /** Returns a user's slot without expired data, or undefined if nothing is left. */
  #slot(userId: UserId, now: number): UserSlot | undefined {
    const key = String(userId)
    const slot = this.#slots.get(key)
    if (!slot) return undefined
    if (pruneSlot(slot, now)) return slot
    this.#slots.delete(key)
    return undefined
  }

  /** Returns a user's slot at a new version. Creates the slot if needed. */
  #openSlot(userId: UserId, now: number): UserSlot {
    this.#sweepSome(now)
    const key = String(userId)
    const slot = this.#slots.get(key) ?? { version: 0, sessions: new Map(), ended: new Map() }
    slot.version = ++this.#counter
    this.#slots.set(key, slot)
    return slot
  }

  #stored(userId: UserId, { sessionId, ttlMs, ...rest }: NewSession, now: number): StoredSession {
    const times = { createdAt: now, lastSeenAt: now, expiresAt: now + ttlMs }
    return { sessionId, record: { token: tokenOf(sessionId), userId, sequence: this.#counter, ...times, ...rest } }
  }

  /** Checks two users at each login, so that data of users who never return is also removed. */
  #sweepSome(now: number): void {
    for (let looked = 0; looked < 2; looked++) {
      const next = this.#sweep.next()
      if (next.done) {
        this.#sweep = this.#slots.keys()
        return
      }
      this.#slot(next.value, now)
    }
  }
}

function oldestFirst(sessions: readonly StoredSession[]): readonly StoredSession[] {
  return sessions.toSorted((a, b) => a.record.sequence - b.record.sequence)
}

/** Checks whether one of these sessions was used less than `ms` ago. */
function wasUsed({ sessions }: UserSlot, { tokens, ms }: Unused, now: number): boolean {
  const records = tokens.flatMap((token) => sessions.get(token)?.record ?? [])
  return records.some(({ lastSeenAt }) => now - lastSeenAt < ms)
}

/** Moves times in the future to now, so that no session lives longer because of a clock that was wrong for a while. */
function setBack(stored: StoredSession, now: number): StoredSession {
  const { record } = stored
  const expiresAt = now + record.expiresAt - record.lastSeenAt
  return { ...stored, record: { ...record, createdAt: Math.min(record.createdAt, now), lastSeenAt: now, expiresAt } }
}

/** Removes expired data. Returns whether any data is left. */
function pruneSlot({ sessions, ended }: UserSlot, now: number): boolean {
  for (const [token, stored] of sessions) {
    if (stored.record.expiresAt <= now) sessions.delete(token)
    else if (stored.record.lastSeenAt > now + MOST_AHEAD_MS) sessions.set(token, setBack(stored, now))
  }
  for (const [token, until] of ended) if (until <= now) ended.delete(token)
  return sessions.size > 0 || ended.size > 0
}

/** Ends sessions, remembers them as ended, and returns those that existed. */
function endInSlot(slot: UserSlot, tokens: readonly Token[], now: number): StoredSession[] {
  const ended = [...new Set(tokens)].flatMap((token) => slot.sessions.get(token) ?? [])
  for (const { record } of ended) {
    slot.sessions.delete(record.token)
    slot.ended.set(record.token, now + ENDED_MEMORY_MS)
  }
  for (const token of slot.ended.keys()) {
    if (slot.ended.size <= ENDED_MEMORY_COUNT) break
    slot.ended.delete(token)
  }
  return ended
}

/** Ends the oldest sessions beyond the maximum per user. */
function boundSlot(slot: UserSlot, now: number): StoredSession[] {
  const excess = Math.max(0, slot.sessions.size - MOST_SESSIONS)
  return excess === 0 ? [] : endInSlot(slot, [...slot.sessions.keys()].slice(0, excess), now)
}

/**
 * How long a user's unknown sessions are not adopted after all were ended: the longest time that browsers keep a
 * cookie.
 */
const MARK_MS = 400 * 24 * 60 * 60_000

/** How many users are remembered. */
const MOST_MARKS = 100_000

/**
 * Remembers the users whose unknown sessions must not be adopted. If there are too many of them, no unknown session of
 * any user is adopted: signing in again is better than an ended session that becomes valid.
 */
class AdoptionMarks {
  /** Until when the marks that were given up apply to all users. */
  #everyone = 0
  /** When each mark expires, soonest first. */
  readonly #marks = new Map<string, number>()

  set(userId: UserId, now: number): void {
    for (const [key, until] of this.#marks) {
      if (until > now) break
      this.#marks.delete(key)
    }
    // Delete the old mark first, so that the map stays sorted by expiry.
    this.#marks.delete(String(userId))
    this.#marks.set(String(userId), now + MARK_MS)
    if (this.#marks.size > MOST_MARKS) this.#giveUpOldest()
  }

  #giveUpOldest(): void {
    const [key, until] = this.#marks.entries().next().value as [string, number]
    this.#marks.delete(key)
    this.#everyone = Math.max(this.#everyone, until)
  }

  has(userId: UserId, now: number): boolean {
    return this.#everyone > now || (this.#marks.get(String(userId)) ?? 0) > now
  }

  delete(userId: UserId): void {
    this.#marks.delete(String(userId))
  }

  clear(): void {
    this.#everyone = 0
    this.#marks.clear()
  }
}
