import { SessmgrError } from '../../ground/errors.ts'
import type { Logger } from '../../ground/logger.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import { maximumInForce } from '../../limiter/decision/evaluate-login.ts'
import type { SessionManager } from '../../limiter/manage-sessions.ts'
import type { SettingsService } from '../../options/session-settings.ts'
import type { Reader } from '../../routes/caller.ts'
import { deviceName } from '../../sessions/device.ts'
import type { EndedByWhom } from '../../sessions/session-end.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { Token } from '../../sessions/token.ts'

/** A user's sessions, and how many they may have. */
export interface OwnList {
  /** The sessions, last used first. */
  readonly sessions: readonly SessionRecord[]
  readonly current: SessionRecord | undefined
  /** Null if there is no limit, or if it is not enforced. */
  readonly maximum: number | null
  readonly logic: string
}

export interface OwnSessionsParts {
  readonly sessions: SessionManager
  /** Ends all sessions of a user except one, and the user's pending logins. */
  readonly signOutOthers: SessionManager['endOthers']
  readonly settings: SettingsService
  readonly hooks: Hooks
  readonly logger: Logger
}

/**
 * Lists and ends the caller's sessions. The user id is always the caller's own, so no one can reach the sessions
 * of others.
 */
export class OwnSessions {
  readonly #parts: OwnSessionsParts

  constructor(parts: OwnSessionsParts) {
    this.#parts = parts
  }

  async list({ userId, token }: Reader): Promise<OwnList> {
    const { sessions, settings, hooks, logger } = this.#parts
    const [records, current] = await Promise.all([sessions.list(userId), settings.get()])
    return {
      sessions: records.toSorted((one, other) => other.lastSeenAt - one.lastSeenAt || other.sequence - one.sequence),
      current: records.find((record) => record.token === token),
      maximum: await maximumInForce({ hooks, settings, logger }, userId, current),
      logic: current.logic,
    }
  }

  /** Ends one session. Resolves to false if the user has no such session, whether or not another user has it. */
  async end(reader: Reader, token: Token): Promise<boolean> {
    return this.#parts.sessions.end(reader.userId, token, await this.#byUser(reader))
  }

  /**
   * Ends all sessions except the caller's, and returns how many it ended. If the caller's session is over, nothing ends
   * and the result is undefined.
   */
  async endOthers(reader: Reader): Promise<number | undefined> {
    const { userId, token } = reader
    try {
      return await this.#parts.signOutOthers(userId, token, await this.#byUser(reader))
    } catch (error) {
      // The session to keep is no longer registered.
      if (error instanceof SessmgrError && error.code === 'invalid_option') return undefined
      throw error
    }
  }

  /** Returns the caller's device, which is shown to those who are signed out. */
  async #byUser({ userId, token }: Reader): Promise<EndedByWhom> {
    const own = (await this.#parts.sessions.list(userId)).find((record) => record.token === token)
    const { name } = await deviceName(own?.userAgent ?? null)
    return { by: 'user', actor: userId, device: name ?? undefined }
  }
}
