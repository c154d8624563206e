import type { UserId } from '../../src/ground/user-id.ts'
import type { EstablishedSession } from '../../src/limiter/decision/commit-login.ts'
import type { LoginAttempt } from '../../src/limiter/decision/evaluate-login.ts'
import { createSessionLimiter, type LimiterParts, type SessionLimiter } from '../../src/limiter/session-limiter.ts'
import type { HostSessions } from '../../src/sessions/session-registry.ts'
import { memoryStore } from '../../src/stores/memory-store.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { type FiredAction, recordActions } from './record-actions.ts'

/** A host whose session store is a set of ids in this process. */
export class SimpleHost implements HostSessions {
  readonly ids = new Set<string>()
  /** Sessions that this host cannot delete. */
  readonly stuck = new Set<string>()
  holdsAll?: (sessionIds: readonly string[]) => Promise<boolean>
  #made = 0

  async exists(sessionId: string): Promise<boolean> {
    return this.ids.has(sessionId)
  }

  async destroy(sessionId: string): Promise<void> {
    if (this.stuck.has(sessionId)) throw new Error('the session store is down')
    this.ids.delete(sessionId)
  }

  /** Creates a session, as a host does for a login whose password check has passed. */
  establish(ttlMs = 60_000, sessionId = this.nextId()): EstablishedSession {
    this.ids.add(sessionId)
    const revert = async () => {
      this.ids.delete(sessionId)
    }
    return { sessionId, ttlMs, revert }
  }

  nextId(): string {
    this.#made += 1
    return `raw-id-${this.#made}`
  }
}

/** One process with a limiter, on a host and a store that it may share with others. */
export interface LimiterWorld {
  readonly limiter: SessionLimiter
  readonly host: SimpleHost
  readonly clock: FakeClock
  /** Every action that has fired, in order, with its parameters. */
  readonly fired: FiredAction[]
  /** Every message that was logged, with its details. */
  readonly logged: unknown[][]
  /** Logs a user in. Returns the raw id of the session, or undefined if the login was refused. */
  login(userId: UserId, attempt?: Partial<LoginAttempt>, ttlMs?: number): Promise<string | undefined>
  /** Raw ids of a user's live sessions, oldest first. */
  live(userId: UserId): Promise<readonly string[]>
}

export function createLimiterWorld({
  host = new SimpleHost(),
  clock = fakeClock(),
  ...parts
}: Partial<LimiterParts> & { host?: SimpleHost; clock?: FakeClock } = {}): LimiterWorld {
  const logged: unknown[][] = []
  const note = (...entry: unknown[]) => void logged.push(entry)
  const limiter = createSessionLimiter({
    store: memoryStore({ clock }),
    hostSessions: host,
    logger: { warn: note, error: note },
    settings: {},
    strategies: [],
    deadlineMs: 1000,
    touchEveryMs: 60_000,
    endedMemoryMs: 259_200_000,
    ...parts,
  })
  const idOfToken = new Map<string, string>()

  return {
    limiter,
    host,
    clock,
    fired: recordActions(limiter.hooks),
    logged,
    async login(userId, attempt, ttlMs) {
      let made: EstablishedSession | undefined
      const admission = await limiter.admit({ userId, ip: null, userAgent: null, ...attempt }, async () => {
        made = host.establish(ttlMs)
        return made
      })
      if (!admission.admitted || !made) return undefined
      idOfToken.set(admission.session.token, made.sessionId)
      return made.sessionId
    },
    live: async (userId) => (await limiter.sessions.list(userId)).map(({ token }) => idOfToken.get(token) ?? token),
  }
}
