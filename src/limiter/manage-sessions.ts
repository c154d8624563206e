import type { UserId } from '../host/user-id.ts'
import type { SessionRecord } from '../sessions/session-record.ts'
import type { Token } from '../sessions/token.ts'
import type { LimiterContext } from './limiter-context.ts'

/** Lists, counts and ends sessions. */
export interface SessionManager {
  /** Lists the live sessions of a user, oldest admission first. Unknown user: none. */
  list(userId: UserId): Promise<readonly SessionRecord[]>
  /** Counts the live sessions of a user. */
  count(userId: UserId): Promise<number>
  /**
   * Ends one session of a user and fires `sessmgr_destroy_session`.
   *
   * @returns false when the user has no such session; nothing fires then.
   */
  end(userId: UserId, token: Token): Promise<boolean>
  /** Ends every session of a user, fires `sessmgr_destroy_all_sessions`, and returns how many there were. */
  endAll(userId: UserId): Promise<number>
  /**
   * Logs every user of the site out, in constant time, and fires `sessmgr_logout_all_users`.
   *
   * Each session is destroyed on its owner's next request.
   *
   * @returns The logout epoch in Unix seconds.
   */
  logoutAllUsers(): Promise<number>
}

/** Creates the session manager. */
export function createSessionManager(context: LimiterContext): SessionManager {
  const { store, hostSessions } = context

  async function list(userId: UserId): Promise<readonly SessionRecord[]> {
    const [{ sessions }, generation] = await Promise.all([store.sessions.read(userId), store.epoch.current()])
    const current = sessions.filter(({ record }) => record.generation >= generation)
    const held = await Promise.all(current.map(({ sessionId }) => hostSessions.exists(sessionId)))
    return current.filter((_, index) => held[index]).map(({ record }) => record)
  }

  return {
    list,
    count: async (userId) => (await list(userId)).length,
    async end(userId, token) {
      const ended = await store.sessions.end(userId, [token])
      await context.discard(ended)
      context.announce(ended.map(({ record }) => ['sessmgr_destroy_session', record.userId, record.token] as const))
      return ended.length > 0
    },
    async endAll(userId) {
      const ended = await store.sessions.end(userId)
      await context.discard(ended)
      context.announce([['sessmgr_destroy_all_sessions', ended[0]?.record.userId ?? userId]])
      return ended.length
    },
    async logoutAllUsers() {
      const { epoch } = await store.epoch.advance()
      context.announce([['sessmgr_logout_all_users', epoch]])
      return epoch
    },
  }
}
