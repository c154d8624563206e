import type { UserId } from '../../ground/user-id.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { Token } from '../../sessions/token.ts'
import type { ReaderTexts } from '../../texts/texts-for.ts'

/** A login whose password check has passed. */
export interface LoginAttempt {
  readonly userId: UserId
  /** Raw id of the browser's current session. If it is the user's own, the login replaces it. */
  readonly replaces?: string | undefined
  /**
   * Token of the session that the request was loaded with, if it belongs to this user. If that session is over, the
   * login is refused.
   */
  readonly continues?: Token | undefined
  /** Address of the client. @default null */
  readonly ip?: string | null | undefined
  /** User agent of the client. @default null */
  readonly userAgent?: string | null | undefined
  /**
   * Identifies the browser, as in {@link SessionRecord}. The login replaces the user's live sessions in that browser.
   * @default null
   */
  readonly device?: string | null | undefined
  /**
   * Sessions that the user chose to end. These sessions end if the login is admitted. Other tokens are ignored.
   * @default []
   */
  readonly ends?: readonly Token[] | undefined
  /** Whether the caller can let the user choose sessions. If not, mode `ask` refuses the login. @default false */
  readonly canAsk?: boolean | undefined
  /** Warning for when mode `ask` refuses the login. @default that there is no page for the choice */
  readonly cannotAsk?: string | undefined
  /** Returns the texts of the user, for the message if the login is refused. @default in English */
  readonly texts?: (() => ReaderTexts) | undefined
}

/** The choice of a user at the limit, in mode `ask`. */
export interface SessionChoice {
  /** How many sessions the user must choose to end. */
  readonly need: number
  /** How many sessions the user may have. */
  readonly maximum: number
  /** The user's live sessions, oldest first. */
  readonly sessions: readonly SessionRecord[]
}
