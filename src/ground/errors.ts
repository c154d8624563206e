/** Every code that a {@link SessmgrError} can carry. */
export type SessmgrErrorCode =
  | 'hook_failed'
  | 'hook_misuse'
  | 'hook_timeout'
  | 'invalid_option'
  | 'invalid_setting'
  | 'login_conflict'
  | 'login_limit_reached'
  | 'session_ended'
  | 'session_middleware_missing'
  | 'session_middleware_unsupported'
  | 'store_unavailable'
  | 'user_id_missing'

const BRAND = Symbol.for('sessmgr.error')

/**
 * Carries a stable `code` beside the sentence for people.
 *
 * @example
 * if (error instanceof SessmgrError && error.code === 'login_limit_reached') showDevices()
 */
export class SessmgrError extends Error {
  /** Always `SessmgrError`. */
  override readonly name = 'SessmgrError'
  /** Says what is wrong, for programs. It keeps its meaning; the message may change. */
  readonly code: SessmgrErrorCode
  /** What is wrong with each bad value, by its name; for `invalid_setting`. */
  readonly params: Readonly<Record<string, string>> | undefined
  /** HTTP status to answer with. On what an application gets from the limiter and its middleware. */
  declare readonly status?: number
  /** Whether the message may be shown to the client. With `status`. */
  declare readonly expose?: boolean
  /** Headers of the answer, such as `Retry-After` in seconds. With `status`. */
  declare readonly headers?: Readonly<Record<string, string>>

  constructor(code: SessmgrErrorCode, message: string, options?: { cause?: unknown; params?: Record<string, string> }) {
    super(message, options)
    this.code = code
    this.params = options?.params
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** Knows its own across the doors of the package, each of which may be loaded with a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
