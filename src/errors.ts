/** Every code that a {@link SessmgrError} can carry. */
export type SessmgrErrorCode =
  | 'hook_failed'
  | 'hook_misuse'
  | 'hook_timeout'
  | 'invalid_option'
  | 'invalid_setting'
  | 'login_conflict'
  | 'login_limit_reached'
  | 'session_middleware_missing'
  | 'session_middleware_unsupported'
  | 'store_unavailable'
  | 'user_id_missing'

/**
 * Carries a stable `code` beside the sentence for people.
 *
 * @example
 * if (error instanceof SessmgrError && error.code === 'login_limit_reached') showDevices()
 */
export class SessmgrError extends Error {
  override readonly name = 'SessmgrError'
  readonly code: SessmgrErrorCode

  constructor(code: SessmgrErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}
