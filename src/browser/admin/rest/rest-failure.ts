/** Details of a failed call. */
export interface FailureParts {
  /** HTTP status, or 0 if there was no response. */
  readonly status: number
  /** Undefined if the response is not from sessmgr. */
  readonly code?: string | undefined
  /** The server's message, for people to read. */
  readonly message?: string | undefined
  /** Method and URL. */
  readonly call?: string | undefined
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly retryable?: boolean | undefined
}

/** Reports that a REST call was refused or got no response. */
export class RestFailure extends Error {
  override readonly name = 'RestFailure'
  /** HTTP status, or 0 if there was no response. */
  readonly status: number
  readonly code: string | undefined
  /** Method and URL, or an empty string if there was no response. */
  readonly call: string
  /** What is wrong with each invalid parameter. */
  readonly params: Readonly<Record<string, string>>
  /** Whether the same call may succeed later. */
  readonly isPassing: boolean

  constructor({ status, code, message = '', call = '', params = {}, retryable }: FailureParts) {
    super(message)
    this.status = status
    this.code = code
    this.call = call
    this.params = params
    this.isPassing = status === 0 || status >= 500 || retryable === true
  }
}

/** Reads the server's refusal. A response in any other format has no message to show. */
export function failureOf(status: number, body: unknown, call: string): RestFailure {
  const { code, message, data } = (body ?? {}) as { code?: unknown; message?: unknown; data?: Partial<FailureParts> }
  const own = typeof code === 'string' && typeof message === 'string' ? { code, message } : {}
  return new RestFailure({ status, call, params: data?.params, retryable: data?.retryable, ...own })
}
