/** Status of the answer to each error. */
export const STATUS = {
  hook_failed: 500,
  hook_misuse: 500,
  hook_timeout: 500,
  invalid_option: 500,
  invalid_setting: 400,
  login_conflict: 503,
  login_limit_reached: 403,
  session_ended: 401,
  session_middleware_missing: 500,
  session_middleware_unsupported: 500,
  store_unavailable: 503,
  user_id_missing: 500,
} as const

/** Every code that a {@link SessmgrError} can carry. */
export type SessmgrErrorCode = keyof typeof STATUS

/** Headers of an answer that a client may soon ask for again. */
export const RETRY_SOON = { 'Retry-After': '2' }

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
  /** HTTP status to answer with, which Express and its relatives do by themselves. */
  readonly status: number
  /** The same, under the name that Fastify reads. */
  readonly statusCode: number
  /** Whether the message may be shown to the client. */
  readonly expose: boolean
  /** Headers of the answer: with 503 `Retry-After`, in seconds. */
  readonly headers: Readonly<Record<string, string>>

  constructor(code: SessmgrErrorCode, message: string, options?: { cause?: unknown; params?: Record<string, string> }) {
    super(message, options)
    this.code = code
    this.params = options?.params
    this.status = STATUS[code]
    this.statusCode = this.status
    this.expose = this.status < 500
    this.headers = this.status === 503 ? { ...RETRY_SOON } : {}
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** Knows its own across the doors of the package, each of which may be loaded with a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
