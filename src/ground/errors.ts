import { choiceData, errorBody, type LoginChoice } from './answer-body.ts'
import { helpAt } from './help.ts'

/** HTTP status of each error code. */
export const STATUS = {
  hook_failed: 500,
  hook_misuse: 500,
  hook_timeout: 500,
  invalid_choice: 400,
  invalid_option: 500,
  invalid_setting: 400,
  login_choice_expired: 410,
  login_choice_required: 409,
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

/** Response headers that ask the client to retry soon. */
export const RETRY_SOON = { 'Retry-After': '2' }

const BRAND = Symbol.for('sessmgr.error')

/**
 * Reports a failure with a stable `code`, an HTTP `status` and a readable message.
 *
 * @example
 * if (error instanceof SessmgrError && error.code === 'login_limit_reached') showDevices()
 */
export class SessmgrError extends Error {
  /** Always `SessmgrError`. */
  override readonly name = 'SessmgrError'
  /** Identifies the error. Codes are stable; messages may change. */
  readonly code: SessmgrErrorCode
  /** What is wrong with each invalid value, by name. Set only for `invalid_setting`. */
  readonly params: Readonly<Record<string, string>> | undefined
  /** What the user has to choose. Set only for `login_choice_required`. */
  readonly choice: LoginChoice | undefined
  /** HTTP status of the response. Express and Koa use it. */
  readonly status: number
  /**
   * The same status, under the name that Fastify uses. Undefined for 500: the message is then for developers, and NestJS
   * would send it to clients.
   */
  readonly statusCode: number | undefined
  /** Whether the client may see the message. */
  readonly expose: boolean
  /** Response headers: `Retry-After` in seconds if the status is 503, otherwise none. */
  readonly headers: Readonly<Record<string, string>>
  /** Address of the section about this code in docs/troubleshooting.md: a URL, or a path below your project. */
  readonly help: string

  constructor(
    code: SessmgrErrorCode,
    message: string,
    options?: { cause?: unknown; params?: Record<string, string>; choice?: LoginChoice },
  ) {
    super(message, options)
    this.code = code
    this.params = options?.params
    this.choice = options?.choice
    this.status = STATUS[code]
    this.statusCode = this.status === 500 ? undefined : this.status
    this.expose = this.status < 500
    this.headers = this.status === 503 ? { ...RETRY_SOON } : {}
    this.help = helpAt(code)
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** Returns the JSON body of sessmgr's own error responses: `response.status(error.status).json(error)`. */
  toJSON(): object {
    // The message of a 500 is for developers.
    const message = this.status === 500 ? 'Internal Server Error' : this.message
    const { data, ...body } = errorBody(this.code, message, this.status)
    return { ...body, data: { ...data, ...(this.choice && choiceData(this.choice)) } }
  }

  /** Recognizes errors from other copies of this class, because each entry point may load its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
