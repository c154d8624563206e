import { tokenOf } from '../../src/sessions/session-record.ts'
import type { FiredAction } from './record-actions.ts'

export interface ModelSession {
  readonly id: string
  readonly user: number
  generation: number
  expiresAt: number
  usedAt: number
}

/**
 * A model of the rules of the session limit that is as simple as possible: one list of sessions, in order of admission.
 *
 * It has no registries, versions or strategies, so that it can disagree with them.
 */
export class LimiterModel {
  now: number
  maximum = 1
  logic = 'allow'
  /** In seconds; at least three times the minute after which a use is recorded again. */
  idleRelease = 0
  bypass = false
  generation = 0
  /** Sessions that the host's store holds. */
  sessions: ModelSession[] = []
  readonly fired: FiredAction[] = []
  /** How many unused sessions have freed their slots. */
  released = 0
  /** Users whose sessions were all ended, including unregistered ones. */
  readonly #marked = new Set<number>()

  constructor(now: number) {
    this.now = now
  }

  /** Raw ids of a user's live sessions, oldest first. */
  live(user: number): string[] {
    return this.#registered(user)
      .filter(({ generation }) => generation >= this.generation)
      .map(({ id }) => id)
  }

  login(user: number, id: string, ttlMs: number, replaces: string | undefined): boolean {
    const others = this.live(user).filter((other) => other !== replaces)
    if (!this.bypass && others.length >= this.maximum) {
      const need = others.length + 1 - this.maximum
      if (this.logic === 'block' && this.#idle(others).length < need) {
        this.fired.push(['sessmgr_login_blocked', user])
        return false
      }
      const inTurn = { allow: others, logout_oldest: others.slice(0, need), block: this.#idle(others).slice(0, need) }
      const displaced = inTurn[this.logic as keyof typeof inTurn] ?? this.#longestUnused(others).slice(0, need)
      this.#remove(displaced)
      if (this.logic === 'block') this.released += displaced.length
      if (this.logic === 'block' || this.logic === 'logout_idlest') {
        for (const ended of displaced) this.fired.push(['sessmgr_destroy_session', user, tokenOf(ended)])
      }
      if (this.logic === 'allow') this.fired.push(['sessmgr_destroy_all_sessions', user])
      if (this.logic === 'logout_oldest') {
        for (const _ of displaced) this.fired.push(['sessmgr_destroy_oldest_session', user])
      }
    }
    if (replaces !== undefined && this.#isRegistered(replaces)) this.#remove([replaces])
    this.sessions.push({ id, user, generation: this.generation, expiresAt: this.now + ttlMs, usedAt: this.now })
    return true
  }

  /** Makes the first request of a session from before the service, and returns what happens to it. */
  adopt(user: number, id: string, ttlMs: number): 'live' | 'ended' | 'logout_all' {
    if (this.#marked.has(user)) return 'ended'
    this.sessions.push({ id, user, generation: 0, expiresAt: this.now + ttlMs, usedAt: this.now })
    return this.generation === 0 ? 'live' : 'logout_all'
  }

  /** Makes a request with a session, and returns what happens to it. */
  visit({ id, user, generation }: ModelSession, ttlMs: number): 'live' | 'ended' | 'logout_all' {
    const session = this.#registered(user).find((other) => other.id === id)
    if (!session || generation < this.generation) this.#remove([id])
    if (!session) return 'ended'
    if (generation < this.generation) {
      this.fired.push(['sessmgr_session_invalidated', user, tokenOf(id)])
      return 'logout_all'
    }
    session.expiresAt = this.now + ttlMs
    session.usedAt = this.now
    return 'live'
  }

  /** Ends a session as the host does, or loses it in its store. */
  logout({ id }: ModelSession): void {
    this.#remove([id])
  }

  endOne({ id, user }: ModelSession): boolean {
    if (!this.#isRegistered(id)) return false
    this.#remove([id])
    this.fired.push(['sessmgr_destroy_session', user, tokenOf(id)])
    return true
  }

  endAll(user: number): void {
    this.#marked.add(user)
    this.#remove(this.#registered(user).map(({ id }) => id))
    this.fired.push(['sessmgr_destroy_all_sessions', user])
  }

  /** Logs everybody out, and returns the time in seconds, or the error if the session to keep is over. */
  logoutAllUsers(keep?: ModelSession): number | 'session_ended' {
    if (keep && !this.live(keep.user).includes(keep.id)) return 'session_ended'
    this.generation += 1
    if (keep) keep.generation = this.generation
    const epoch = Math.floor(this.now / 1000)
    this.fired.push(['sessmgr_logout_all_users', epoch])
    return epoch
  }

  /** Returns the sessions of a user that have not expired, stale or not. */
  #registered(user: number): ModelSession[] {
    return this.sessions.filter((session) => session.user === user && session.expiresAt > this.now)
  }

  #longestUnused(ids: readonly string[]): string[] {
    const usedAt = (id: string) => this.sessions.find((session) => session.id === id)?.usedAt ?? 0
    return ids.toSorted((a, b) => usedAt(a) - usedAt(b))
  }

  /** Those that nobody has used for so long that they free their slots. */
  #idle(ids: readonly string[]): string[] {
    const isIdle = ({ usedAt }: ModelSession) => this.idleRelease > 0 && this.now - usedAt >= this.idleRelease * 1000
    const idle = this.sessions.filter(isIdle).map(({ id }) => id)
    return this.#longestUnused(ids).filter((id) => idle.includes(id))
  }

  #isRegistered(id: string): boolean {
    return this.sessions.some((session) => session.id === id && session.expiresAt > this.now)
  }

  #remove(ids: readonly string[]): void {
    this.sessions = this.sessions.filter(({ id }) => !ids.includes(id))
  }
}
