import type { Clock } from '../../clock.ts'
import type { NewSession, StoredSession } from '../../sessions/session-record.ts'
import type { CommitResult, SessionChange, SessionRegistry, UserSessions } from '../../sessions/session-registry.ts'
import { type Token, tokenOf } from '../../sessions/token.ts'
import type { UserId } from '../../user-id.ts'

/** How long an ended token is remembered, so that a request that was under way cannot register it again. */
const ENDED_MEMORY_MS = 10 * 60_000
/** How many ended tokens of one user are remembered. */
const ENDED_MEMORY_COUNT = 32

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
  // One counter for all users serves as version and as sequence: neither may ever repeat for a user.
  #counter = 0
  #sweep: Iterator<string> = [][Symbol.iterator]()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wipe(): void {
    this.#slots.clear()
  }

  async read(userId: UserId): Promise<UserSessions> {
    const slot = this.#slot(userId)
    return { sessions: [...(slot?.sessions.values() ?? [])], version: String(slot?.version ?? 0) }
  }

  async generationOf(userId: UserId, token: Token): Promise<number | undefined> {
    return this.#slot(userId)?.sessions.get(token)?.record.generation
  }

  async commit(userId: UserId, version: string, change: SessionChange): Promise<CommitResult> {
    if (String(this.#slot(userId)?.version ?? 0) !== version) return { committed: false }
    const slot = this.#openSlot(userId)
    const admitted = this.#stored(userId, change.admit)
    const ended = this.#end(slot, change.end)
    // A replaced token moves to the end: it is the youngest now.
    slot.ended.delete(admitted.record.token)
    slot.sessions.delete(admitted.record.token)
    slot.sessions.set(admitted.record.token, admitted)
    return { committed: true, admitted, ended }
  }

  async adopt(userId: UserId, session: NewSession): Promise<StoredSession | undefined> {
    const token = tokenOf(session.sessionId)
    const present = this.#slot(userId)
    const known = present?.sessions.get(token)
    if (known || present?.ended.has(token)) return known
    const slot = this.#openSlot(userId)
    const adopted = this.#stored(userId, session)
    slot.sessions.set(token, adopted)
    return adopted
  }

  async touch(userId: UserId, token: Token, ttlMs: number): Promise<boolean> {
    const slot = this.#slot(userId)
    const stored = slot?.sessions.get(token)
    if (!slot || !stored) return false
    const now = this.#clock.now()
    slot.sessions.set(token, { ...stored, record: { ...stored.record, lastSeenAt: now, expiresAt: now + ttlMs } })
    return true
  }

  async restamp(userId: UserId, token: Token, generation: number): Promise<boolean> {
    const slot = this.#slot(userId)
    const stored = slot?.sessions.get(token)
    if (!slot || !stored) return false
    slot.sessions.set(token, { ...stored, record: { ...stored.record, generation } })
    slot.version = ++this.#counter
    return true
  }

  async end(userId: UserId, tokens?: readonly Token[]): Promise<readonly StoredSession[]> {
    const slot = this.#slot(userId)
    if (!slot) return []
    const ended = this.#end(slot, tokens ?? [...slot.sessions.keys()])
    if (ended.length > 0) slot.version = ++this.#counter
    return ended.toSorted((a, b) => a.record.sequence - b.record.sequence)
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
