import type { Clock } from '../../ground/clock.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { NewSession, SessionRecord, StoredSession } from '../../sessions/session-record.ts'
import {
  type CommitResult,
  MOST_SESSIONS,
  type SessionChange,
  type SessionRegistry,
  type UserSessions,
} from '../../sessions/session-registry.ts'
import { type Token, tokenOf } from '../../sessions/token.ts'

/** How long an ended token is remembered, so that a request that was under way cannot register it again. */
const ENDED_MEMORY_MS = 10 * 60_000
/** How many ended tokens of one user are remembered. */
const ENDED_MEMORY_COUNT = 32
/** How long no unknown session of a user is adopted after all were ended: the longest that a browser keeps a cookie. */
const MARK_MS = 400 * 24 * 60 * 60_000

interface Slot {
  version: number
  readonly sessions: Map<Token, StoredSession>
  readonly ended: Map<Token, number>
}

/**
 * Knows who is logged in where, in this process.
 *
 * Every method does its work before it first yields, which makes it atomic.
 */
export class MemorySessionRegistry implements SessionRegistry {
  readonly #clock: Clock
  readonly #slots = new Map<string, Slot>()
  /** Until when no unknown session of a user is adopted, in the order in which that ends. */
  readonly #marks = new Map<string, number>()
  // One counter for all users serves as version and as sequence: neither may ever repeat for a user.
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
    const slot = this.#slot(userId)
    return { sessions: [...(slot?.sessions.values() ?? [])], version: String(slot?.version ?? 0) }
  }

  async generationOf(userId: UserId, token: Token): Promise<number | undefined> {
    return this.#live(userId, token)?.stored.record.generation
  }

  async commit(userId: UserId, version: string, change: SessionChange): Promise<CommitResult> {
    const present = this.#slot(userId)
    if (change.continues !== undefined) {
      const continued = present?.sessions.get(change.continues)
      if (!continued || continued.record.generation < change.admit.generation) return { committed: false, isOver: true }
    }
    if (String(present?.version ?? 0) !== version) return { committed: false }
    const slot = this.#openSlot(userId)
    const admitted = this.#stored(userId, change.admit)
    const ended = this.#end(slot, change.end)
    // A replaced token moves to the end: it is the youngest now.
    slot.ended.delete(admitted.record.token)
    slot.sessions.delete(admitted.record.token)
    slot.sessions.set(admitted.record.token, admitted)
    return { committed: true, admitted, ended: oldestFirst([...ended, ...this.#bound(slot)]) }
  }

  async adopt(userId: UserId, session: NewSession): Promise<StoredSession | undefined> {
    const token = tokenOf(session.sessionId)
    const present = this.#slot(userId)
    const known = present?.sessions.get(token)
    if (known || present?.ended.has(token) || this.#isMarked(userId)) return known
    const slot = this.#openSlot(userId)
    const adopted = this.#stored(userId, session)
    slot.sessions.set(token, adopted)
    this.#bound(slot)
    return adopted
  }

  async touch(userId: UserId, token: Token, ttlMs: number): Promise<boolean> {
    const now = this.#clock.now()
    return this.#update(userId, token, { lastSeenAt: now, expiresAt: now + ttlMs }) !== undefined
  }

  async restamp(userId: UserId, token: Token, generation: number): Promise<boolean> {
    const slot = this.#update(userId, token, { generation })
    if (slot) slot.version = ++this.#counter
    return slot !== undefined
  }

  async end(userId: UserId, tokens?: readonly Token[]): Promise<readonly StoredSession[]> {
    if (!tokens) this.#mark(userId)
    const slot = this.#slot(userId)
    return slot ? this.#endNow(slot, tokens ?? [...slot.sessions.keys()]) : []
  }

  async endOthers(userId: UserId, keep: Token): Promise<readonly StoredSession[] | undefined> {
    const slot = this.#slot(userId)
    if (!slot?.sessions.has(keep)) return undefined
    this.#mark(userId)
    return this.#endNow(
      slot,
      [...slot.sessions.keys()].filter((token) => token !== keep),
    )
  }

  #endNow(slot: Slot, tokens: readonly Token[]): readonly StoredSession[] {
    const ended = this.#end(slot, tokens)
    if (ended.length > 0) slot.version = ++this.#counter
    return oldestFirst(ended)
  }

  /** Finds one session, and looks at no other: users may have very many. */
  #live(userId: UserId, token: Token): { slot: Slot; stored: StoredSession } | undefined {
    const slot = this.#slots.get(String(userId))
    const stored = slot?.sessions.get(token)
    return slot && stored && stored.record.expiresAt > this.#clock.now() ? { slot, stored } : undefined
  }

  #update(userId: UserId, token: Token, changes: Partial<SessionRecord>): Slot | undefined {
    const live = this.#live(userId, token)
    live?.slot.sessions.set(token, { ...live.stored, record: { ...live.stored.record, ...changes } })
    return live?.slot
  }

  #mark(userId: UserId): void {
    const now = this.#clock.now()
    for (const [key, until] of this.#marks) {
      if (until > now) break
      this.#marks.delete(key)
    }
    // Taken out first, so that the map stays in the order in which the marks end.
    this.#marks.delete(String(userId))
    this.#marks.set(String(userId), now + MARK_MS)
  }

  #isMarked(userId: UserId): boolean {
    return (this.#marks.get(String(userId)) ?? 0) > this.#clock.now()
  }

  /** The slot of a user without what has expired; undefined when nothing is left to remember. */
  #slot(userId: UserId): Slot | undefined {
    const key = String(userId)
    const slot = this.#slots.get(key)
    if (!slot) return undefined
    const now = this.#clock.now()
    for (const [token, { record }] of slot.sessions) if (record.expiresAt <= now) slot.sessions.delete(token)
    for (const [token, until] of slot.ended) if (until <= now) slot.ended.delete(token)
    if (slot.sessions.size > 0 || slot.ended.size > 0) return slot
    this.#slots.delete(key)
    return undefined
  }

  /** The slot of a user, made if need be, at a new version. */
  #openSlot(userId: UserId): Slot {
    this.#sweepSome()
    const key = String(userId)
    const slot = this.#slots.get(key) ?? { version: 0, sessions: new Map(), ended: new Map() }
    slot.version = ++this.#counter
    this.#slots.set(key, slot)
    return slot
  }

  #stored(userId: UserId, { sessionId, ttlMs, ...rest }: NewSession): StoredSession {
    const now = this.#clock.now()
    const times = { createdAt: now, lastSeenAt: now, expiresAt: now + ttlMs }
    return { sessionId, record: { token: tokenOf(sessionId), userId, sequence: this.#counter, ...times, ...rest } }
  }

  #end(slot: Slot, tokens: readonly Token[]): StoredSession[] {
    const until = this.#clock.now() + ENDED_MEMORY_MS
    const ended = [...new Set(tokens)].flatMap((token) => slot.sessions.get(token) ?? [])
    for (const { record } of ended) {
      slot.sessions.delete(record.token)
      slot.ended.set(record.token, until)
    }
    for (const token of slot.ended.keys()) {
      if (slot.ended.size <= ENDED_MEMORY_COUNT) break
      slot.ended.delete(token)
    }
    return ended
  }

  /** Ends the oldest sessions beyond the most that one user may have. */
  #bound(slot: Slot): StoredSession[] {
    const excess = Math.max(0, slot.sessions.size - MOST_SESSIONS)
    return excess === 0 ? [] : this.#end(slot, [...slot.sessions.keys()].slice(0, excess))
  }

  /** Looks at two users for every one that logs in, so that those who never return are forgotten too. */
  #sweepSome(): void {
    for (let looked = 0; looked < 2; looked++) {
      const next = this.#sweep.next()
      if (next.done) {
        this.#sweep = this.#slots.keys()
        return
      }
      this.#slot(next.value)
    }
  }
}

function oldestFirst(sessions: readonly StoredSession[]): readonly StoredSession[] {
  return sessions.toSorted((a, b) => a.record.sequence - b.record.sequence)
}
