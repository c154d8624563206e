import { requireWhole } from '../../ground/option-checks.ts'
import { requireUserId, type UserId } from '../../ground/user-id.ts'
import { PendingLogins } from '../../limiter/pending/pending-logins.ts'
import type { SessmgrStore } from '../../stores/store.ts'

/** A pending login that was taken. */
export interface TakenLogin {
  /** Id of the user who logs in. */
  readonly userId: UserId
  /**
   * Opens the same pending login again, if another choice is needed. Resolves to false after three tries, or once the
   * login has expired.
   */
  putBack(): Promise<boolean>
}

/**
 * Logins that wait until the user has chosen which sessions to end, in mode `ask`.
 *
 * If `login` is refused with a `choice`, open a pending login and keep its secret in a cookie. Once the user has
 * chosen, take it, and call `login` again with `ends`. A pending login becomes void at a site-wide logout, when `endAll`
 * or `endOthers` ends sessions of the user, and when the user signs out all other devices or is erased.
 */
export interface PendingCalls {
  /**
   * Opens a pending login, and returns its secret.
   *
   * @param seconds How long the login waits, from 60 to 900. @default 300
   * @throws SessmgrError `store_unavailable`, `user_id_missing`, `invalid_option`; `session_ended` if the user was erased
   * meanwhile.
   */
  open(userId: UserId, seconds?: number): Promise<string>
  /**
   * Returns the user of a pending login, or undefined if it is no longer pending. @throws SessmgrError
   * `store_unavailable`.
   */
  read(secret: string | undefined): Promise<UserId | undefined>
  /**
   * Takes a pending login, which works only once. Resolves to undefined if it is no longer pending.
   *
   * @throws SessmgrError `store_unavailable`; the login may have been taken. `invalid_option` if the transient store
   * has no method `take`.
   */
  take(secret: string | undefined): Promise<TakenLogin | undefined>
}

/** Creates the calls for pending logins. */
export function createPendingCalls(store: SessmgrStore): PendingCalls {
  const pending = new PendingLogins(store)
  return {
    async open(userId, seconds = 300) {
      requireUserId(userId)
      requireWhole('seconds', seconds, 60, 900)
      return pending.open(userId, seconds * 1000)
    },
    read: async (secret) => (await pending.read(secret))?.userId,
    async take(secret = '') {
      const login = await pending.take(secret)
      if (!login) return undefined
      return { userId: login.userId, putBack: async () => (await pending.putBack(secret, login)) !== undefined }
    },
  }
}
