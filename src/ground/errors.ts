import { helpAt } from './help.ts'

/** HTTP status of each error code. */
export const STATUS = {
  device_not_bound: 401,
  device_proof_delayed: 401,
  device_proof_missing: 401,
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

/** Fields that frameworks look for. */
const FOR_FRAMEWORKS = ['status', 'statusCode', 'expose', 'headers']

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
   * The HTTP status, under the name that Fastify uses. Undefined for 500: the message is then for developers, and
   * NestJS would send it to clients.
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
    // Frameworks log the stack of every error. What a client has caused is no fault at a line of code.
    if (this.expose) this.stack = `${this.name}: ${message}`
    Object.defineProperty(this, BRAND, { value: true })
    // A printed error shows what helps its reader.
    const empty = (['params', 'choice'] as const).filter((name) => this[name] === undefined)
    for (const name of [...FOR_FRAMEWORKS, ...empty]) Object.defineProperty(this, name, { enumerable: false })
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

/** A session that the user may end to make room for a login. */
export interface ChoosableSession {
  /** Identifies the session; the hashed session id. */
  readonly token: string
  /** Browser and system, such as "Chrome on Windows". Null if unknown. */
  readonly device: string | null
  /** When the user signed in, in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** When the session was last used, in milliseconds since the Unix epoch. */
  readonly lastSeenAt: number
  /** Address of the client. Set only if the choice page shows addresses. */
  readonly ip?: string | null
}

/** What a user has to choose before a login can continue. */
export interface LoginChoice {
  /** Address of the page where the user chooses. */
  readonly url: string
  /** How many sessions must end. */
  readonly need: number
  /** How many sessions the user may have. */
  readonly maximum: number
  /** Seconds until the user has to sign in again. */
  readonly expiresIn: number
  /** The sessions to choose from, last used first. */
  readonly sessions: readonly ChoosableSession[]
  /** The secret of this login, for clients without cookies. Set only with the `secretInBody` option. */
  readonly pending?: string
}

/** Builds the JSON body of an error response. */
export function errorBody(code: string, message: string, status: number) {
  return { code, message, data: { status } }
}

/** Returns the data of a choice for the JSON body of an error response. */
export function choiceData({ url, need, maximum, expiresIn, sessions, pending }: LoginChoice) {
  const rows = sessions.map(({ token, device, createdAt, lastSeenAt, ip }) => ({
    token,
    device,
    created_at: createdAt,
    last_seen_at: lastSeenAt,
    ...(ip !== undefined && { ip }),
  }))
  return { need, maximum, expires_in: expiresIn, choice_url: url, sessions: rows, ...(pending && { pending }) }
}

/**
 * Returns the message of an error. If it is empty, as after failed connections to several addresses, returns the first
 * inner error's message.
 */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, errors, code } = error as { message?: unknown; errors?: unknown; code?: unknown }
  if (message) return String(message)
  if (Array.isArray(errors) && errors.length > 0) return messageOf(errors[0])
  return String(code || 'no message')
}

/** Replaces a raw session id in a string that people may read. */
export function hideSessionId(text: string, sessionId: string): string {
  return text.replaceAll(sessionId || '\0', '<session id>')
}

/** Describes an error and its cause in one log line, without the raw session id. */
export function errorText(error: unknown, sessionId: string): string {
  const { cause } = (error ?? {}) as { cause?: unknown }
  const texts = [error, cause].filter((it) => it !== undefined).map(messageOf)
  return hideSessionId(texts.join(' '), sessionId)
}

/**
 * Returns a new error with only the code and the reworded message, because clients attach the arguments of a call to
 * their errors.
 */
export function rewordError(error: unknown, reword: (text: string) => string): Error {
  const { code } = (error ?? {}) as { code?: unknown }
  return Object.assign(new Error(reword(messageOf(error))), code === undefined ? {} : { code })
}
