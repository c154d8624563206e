/** What is known of a call that failed. */
export interface FailureParts {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** Undefined when the answer is none of sessmgr. */
  readonly code?: string | undefined
  /** What the server said, for people. */
  readonly message?: string | undefined
  /** Method and address. */
  readonly call?: string | undefined
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly retryable?: boolean | undefined
}

/** A REST call that was refused, or that did not come through. */
export class RestFailure extends Error {
  override readonly name = 'RestFailure'
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  readonly code: string | undefined
  /** Method and address; empty when there was no answer. */
  readonly call: string
  /** What is wrong with each bad parameter. */
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

/** Reads what the server said of a refusal; what is not its own shape has no message for people. */
export function failureOf(status: number, body: unknown, call: string): RestFailure {
  const { code, message, data } = (body ?? {}) as { code?: unknown; message?: unknown; data?: Partial<FailureParts> }
  const own = typeof code === 'string' && typeof message === 'string' ? { code, message } : {}
  return new RestFailure({ status, call, params: data?.params, retryable: data?.retryable, ...own })
}
