import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import type { EndedCause, EndedKind, SignedOutReason } from '../../sessions/session-end.ts'
import type { TextsFor } from '../../texts/texts-for.ts'

/**
 * What to show to a user who was signed out. All strings except `html` are plain text, which must be escaped for
 * display.
 */
export interface SignedOutNotice {
  /** Why the session ended. */
  readonly reason: SignedOutReason
  /** What ended the session and when. Undefined if this is unknown. */
  readonly cause?: EndedCause
  /** What happened, in one sentence. */
  readonly title: string
  /** When and how the session ended. */
  readonly text: string
  /** When the session ended, in ISO 8601. */
  readonly at?: string
  /** What to do if someone else ended the session. Undefined if there is nothing to do. */
  readonly advice?: string
  /** URL of the page that the advice is about: the `securityUrl` option. */
  readonly adviceUrl?: string
  /** The whole notice as escaped HTML, with the class `sessmgr-notice`. */
  readonly html: string
}

/** The JSON body of a 401 response to a request whose session is over. */
export interface SignedOutBody {
  /** Always `session_ended`. */
  readonly code: 'session_ended'
  /** Title and text of the notice. */
  readonly message: string
  /** What is known about how the session ended. */
  readonly data: {
    /** HTTP status: 401. */
    readonly status: number
    /** Why the session ended. */
    readonly reason: SignedOutReason
    /** Null if it is unknown what ended the session. */
    readonly kind: EndedKind | null
    /** When the session ended, in ISO 8601. */
    readonly at: string | null
    /** The device that ended the session, such as "Chrome on Windows". */
    readonly device: string | null
    /** The application's note about the end of the session. */
    readonly note: string | null
  }
}

/**
 * Name of the cookie that names the ended session whose reason a page shows. It contains the session's token and, once
 * shown, the time. The `__Host-` prefix is added where possible.
 */
export const NOTICE_COOKIE = 'sessmgr_notice'

export interface NoticeParts {
  readonly limiter: Pick<SessionLimiter, 'causeOf'>
  /** How long the reason of an end is kept; 0 means not at all. */
  readonly endedMemoryMs: number
  readonly textsFor: TextsFor
  /** URL of the page where users change their password. */
  readonly securityUrl: string | undefined
}
