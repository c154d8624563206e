import type { Clock } from '../../ground/clock.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { NewSession, SessionRecord, StoredSession } from '../../sessions/session-record.ts'
import type { CommitResult, SessionChange, SessionRegistry, UserSessions } from '../../sessions/session-registry.ts'
import { type Token, tokenOf } from '../../sessions/token.ts'
import { AdoptionMarks } from './adoption-marks.ts'
import { boundSlot, endInSlot, pruneSlot, type UserSlot } from './user-slot.ts'

/**
 * Knows who is logged in where, in this process.
 *
 * Every method does its work before it first yields, which makes it atomic.
 */
export class MemorySessionRegistry implements SessionRegistry {
  readonly #clock: Clock
  readonly #slots = new Map<string, UserSlot>()
  readonly #marks = new AdoptionMarks()
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
    const ended = endInSlot(slot, change.end, this.#clock.now())
    // A replaced token moves to the end: it is the youngest now.
    slot.ended.delete(admitted.record.token)
    slot.sessions.delete(admitted.record.token)
    slot.sessions.set(admitted.record.token, admitted)
    return { committed: true, admitted, ended: oldestFirst([...ended, ...boundSlot(slot, this.#clock.now())]) }
  }

  async adopt(userId: UserId, session: NewSession): Promise<StoredSession | undefined> {
    const token = tokenOf(session.sessionId)
    const present = this.#slot(userId)
    const known = present?.sessions.get(token)
    if (known || present?.ended.has(token) || this.#marks.has(userId, this.#clock.now())) return known
    const slot = this.#openSlot(userId)
    const adopted = this.#stored(userId, session)
    slot.sessions.set(token, adopted)
    boundSlot(slot, this.#clock.now())
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
    if (!tokens) this.#marks.set(userId, this.#clock.now())
    const slot = this.#slot(userId)
    return slot ? this.#endNow(slot, tokens ?? [...slot.sessions.keys()]) : []
  }

  async endOthers(userId: UserId, keep: Token): Promise<readonly StoredSession[] | undefined> {
    const slot = this.#slot(userId)
    if (!slot?.sessions.has(keep)) return undefined
    this.#marks.set(userId, this.#clock.now())
    return this.#endNow(
      slot,
      [...slot.sessions.keys()].filter((token) => token !== keep),
    )
  }

  #endNow(slot: UserSlot, tokens: readonly Token[]): readonly StoredSession[] {
    const ended = endInSlot(slot, tokens, this.#clock.now())
    if (ended.length > 0) slot.version = ++this.#counter
    return oldestFirst(ended)
  }

  /** Finds one session, and looks at no other: users may have very many. */
  #live(userId: UserId, token: Token): { slot: UserSlot; stored: StoredSession } | undefined {
    const slot = this.#slots.get(String(userId))
    const stored = slot?.sessions.get(token)
    return slot && stored && stored.record.expiresAt > this.#clock.now() ? { slot, stored } : undefined
  }

  #update(userId: UserId, token: Token, changes: Partial<SessionRecord>): UserSlot | undefined {
    const live = this.#live(userId, token)
    live?.slot.sessions.set(token, { ...live.stored, record: { ...live.stored.record, ...changes } })
    return live?.slot
  }

  /** The slot of a user without what has expired; undefined when nothing is left to remember. */
  #slot(userId: UserId): UserSlot | undefined {
    const key = String(userId)
    const slot = this.#slots.get(key)
    if (!slot) return undefined
    if (pruneSlot(slot, this.#clock.now())) return slot
    this.#slots.delete(key)
    return undefined
  }

  /** The slot of a user, made if need be, at a new version. */
  #openSlot(userId: UserId): UserSlot {
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
