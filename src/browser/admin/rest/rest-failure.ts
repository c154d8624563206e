/** A REST call that was refused, or that did not come through. */
export class RestFailure extends Error {
  override readonly name = 'RestFailure'
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  readonly code: string
  /** What is wrong with each bad parameter. */
  readonly params: Readonly<Record<string, string>>
  /** Whether the same call may succeed later. */
  readonly isPassing: boolean

  constructor(status: number, code: string, message: string, data: FailureData = {}) {
    super(message)
    this.status = status
    this.code = code
    this.params = data.params ?? {}
    this.isPassing = status === 0 || status >= 500 || data.retryable === true
  }
}

interface FailureData {
  readonly params?: Readonly<Record<string, string>>
  readonly retryable?: boolean
}

/** Reads what the server said of a refusal; what is not its own shape has no message for people. */
export function failureOf(status: number, body: unknown): RestFailure {
  const { code, message, data } = (body ?? {}) as { code?: unknown; message?: unknown; data?: FailureData }
  const text = typeof message === 'string' ? message : ''
  return new RestFailure(status, typeof code === 'string' ? code : 'unknown', text, data ?? {})
}
