import { channel } from 'node:diagnostics_channel'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Login, SessionLimiter } from '../../extend.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { SessionEnd, Token } from '../../index.ts'
import { endedBy, type LiveEnd, TRY_AGAIN } from './close-connection.ts'

const CLOSED = channel('sessmgr.live.closed')

/**
 * How this process learned that a connection must close: it ended the session itself (`local`), received a message, or
 * checked the store (`sweep`).
 */
type LearnedBy = 'local' | 'message' | 'sweep'

interface LiveSessionsParts {
  readonly limiter: Pick<SessionLimiter, 'check'>
  /** How long a session's connections stay open while the session cannot be checked. */
  readonly graceMs: number
  /** Called when a session could not be checked, with the time for the next check, by `performance.now()`. */
  readonly onUnknown: (checkAt: number) => void
}

/** Checks sessions that have open connections, and closes the connections of ended sessions. */
export class LiveSessions {
  readonly #table = new ConnectionTable()
  readonly #parts: LiveSessionsParts
  #isClosed = false

  constructor(parts: LiveSessionsParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#table.size
  }

  all(): readonly TrackedSession[] {
    return this.#table.all()
  }

  /**
   * Tracks a connection, then checks its session. In this order, no end of the session is missed.
   *
   * @returns The function that stops tracking.
   */
  track(userId: UserId, token: Token, connection: Connection): () => void {
    const session = this.#table.add(userId, token, connection)
    if (this.#isClosed) queueMicrotask(() => this.close())
    else void this.check(session)
    return () => void this.#table.delete(session, connection)
  }

  /** Asks the store whether a session is live, and closes its connections if it is not. Never rejects. */
  async check(session: TrackedSession, how: LearnedBy = 'sweep', kind?: SessionEnd['kind']): Promise<void> {
    const { limiter, graceMs, onUnknown } = this.#parts
    const { userId, token } = session
    try {
      const verdict = await limiter.check(userId, token)
      session.unknownSince = undefined
      if (verdict.live) return
      closeAll(this.#table, session, endedBy(verdict.reason === 'ended' ? kind : verdict.reason), how)
    } catch {
      const now = performance.now()
      session.unknownSince ??= now
      const graceEnd = session.unknownSince + graceMs
      if (now >= graceEnd) closeAll(this.#table, session, TRY_AGAIN, how)
      else onUnknown(graceEnd)
    }
  }

  /** Checks the tracked sessions with a token, because another process has reported their end. */
  checkToken(token: Token, kind: SessionEnd['kind']): void {
    for (const session of this.#table.of(token)) void this.check(session, 'message', kind)
  }

  /** Closes the connections of a session that this process has ended. */
  ended({ userId, token }: Login, kind: SessionEnd['kind'] | undefined): void {
    for (const session of this.#table.of(token)) {
      if (String(session.userId) === String(userId)) closeAll(this.#table, session, endedBy(kind), 'local')
    }
  }

  /** Closes all connections, including any that are tracked later. */
  close(): void {
    this.#isClosed = true
    for (const session of this.all()) closeAll(this.#table, session, TRY_AGAIN, 'local')
  }
}

function closeAll(table: ConnectionTable, session: TrackedSession, end: LiveEnd, how: LearnedBy): void {
  for (const connection of [...session.connections]) {
    if (!table.delete(session, connection)) continue
    connection.close(end)
    if (CLOSED.hasSubscribers) CLOSED.publish({ userId: session.userId, token: session.token, how, ...end })
  }
}

/** An open connection. Its `close` is called at most once, after its removal from the table. */
interface Connection {
  close(end: LiveEnd): void
}

/** A session with open connections in this process. */
export class TrackedSession {
  readonly userId: UserId
  readonly token: Token
  readonly connections = new Set<Connection>()
  /** When checks of the session began to fail, by `performance.now()`. */
  unknownSince: number | undefined = undefined

  constructor(userId: UserId, token: Token) {
    this.userId = userId
    this.token = token
  }
}

/** The open connections of this process, by session token. */
class ConnectionTable {
  /** Some frameworks keep the session id across logins, so one token may belong to several users in turn. */
  readonly #sessions = new Map<Token, readonly TrackedSession[]>()
  #size = 0

  /** Number of connections. */
  get size(): number {
    return this.#size
  }

  add(userId: UserId, token: Token, connection: Connection): TrackedSession {
    const known = this.#sessions.get(token) ?? []
    let session = known.find((one) => String(one.userId) === String(userId))
    if (!session) {
      session = new TrackedSession(userId, token)
      this.#sessions.set(token, [...known, session])
    }
    session.connections.add(connection)
    this.#size += 1
    return session
  }

  /** Removes a connection. Returns false if it was removed before. */
  delete(session: TrackedSession, connection: Connection): boolean {
    if (!session.connections.delete(connection)) return false
    this.#size -= 1
    if (session.connections.size === 0) {
      const others = this.of(session.token).filter((one) => one !== session)
      if (others.length === 0) this.#sessions.delete(session.token)
      else this.#sessions.set(session.token, others)
    }
    return true
  }

  of(token: Token): readonly TrackedSession[] {
    return this.#sessions.get(token) ?? []
  }

  all(): readonly TrackedSession[] {
    return [...this.#sessions.values()].flat()
  }
}

/** Number of sessions checked per turn of the event loop. */
const SLICE = 500
/** Time over which connections close after a site-wide logout, so that clients do not all reconnect at once. */
const SPREAD_MS = 5000
const STEP_MS = 50
const LEAST_PER_STEP = 10
/** Shortest time between two sweeps while the store does not respond. */
const LEAST_PAUSE_MS = 250
/** Shortest time between two sweeps if messages were missed. */
const MISSED_PAUSE_MS = 1000

/** Checks all sessions with open connections at intervals, to find ends whose message was lost. */
export class Sweep {
  readonly #sessions: LiveSessions
  readonly #everyMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the next sweep begins, by `performance.now()`. */
  #due = 0
  #startedAt = 0
  #isStopped = false
  #isSpreading = false
  #mustSpreadAgain = false

  constructor(sessions: LiveSessions, everyMs: number) {
    this.#sessions = sessions
    this.#everyMs = everyMs
    this.#plan(performance.now() + this.#pause())
  }

  /** Returns a random time slightly below the interval, so that processes started together do not sweep together. */
  #pause(): number {
    return this.#everyMs * (0.8 + 0.2 * Math.random())
  }

  #plan(at: number): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#due = at
    this.#timer = setTimeout(() => this.now(), Math.max(0, at - performance.now())).unref()
  }

  /** Plans a sweep for `moment`, unless one is due earlier. */
  at(moment: number): void {
    if (moment < this.#due) this.#plan(Math.max(moment, this.#startedAt + LEAST_PAUSE_MS))
  }

  /**
   * Sweeps because messages were missed, but at most once a second, in case the subscriber keeps losing its connection.
   */
  missed(): void {
    this.at(Math.max(performance.now(), this.#startedAt + MISSED_PAUSE_MS))
  }

  /** Sweeps now. The time to the next sweep counts from the start of this one, not from its end. */
  now(): void {
    this.#startedAt = performance.now()
    this.#plan(this.#startedAt + this.#pause())
    void this.#inSlices(SLICE, 'sweep', () => nextTurn())
  }

  /** Checks all sessions after a site-wide logout, spread over a few seconds. */
  async spread(how: LearnedBy): Promise<void> {
    this.#mustSpreadAgain = this.#isSpreading
    if (this.#isSpreading) return
    this.#isSpreading = true
    do {
      this.#mustSpreadAgain = false
      const steps = Math.min(SPREAD_MS, this.#everyMs) / STEP_MS
      const perStep = Math.max(LEAST_PER_STEP, Math.ceil(this.#sessions.all().length / steps))
      await this.#inSlices(perStep, how, () => sleep(STEP_MS, undefined, { ref: false }))
    } while (this.#mustSpreadAgain)
    this.#isSpreading = false
  }

  async #inSlices(size: number, how: LearnedBy, pause: () => Promise<unknown>): Promise<void> {
    const sessions = this.#sessions.all()
    for (let first = 0; first < sessions.length && !this.#isStopped; first += size) {
      if (first > 0) await pause()
      for (const session of sessions.slice(first, first + size)) {
        // Its last connection may have closed in the meantime.
        if (session.connections.size > 0) void this.#sessions.check(session, how)
      }
    }
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }
}
