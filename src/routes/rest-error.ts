import { SessmgrError, type SessmgrErrorCode } from '../ground/errors.ts'

/** An answer of the REST surface that says no. */
export class RestError extends Error {
  override readonly name = 'RestError'
  readonly status: number
  readonly code: string
  readonly data: object
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    { data = {}, headers = {} }: { data?: object; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.data = data
    this.headers = headers
  }
}

/** Makes the answer to bad parameters. */
export function invalidParams(params: Readonly<Record<string, string>>): RestError {
  const names = Object.keys(params).join(', ')
  return new RestError(400, 'rest_invalid_param', `Invalid parameter(s): ${names}. Nothing was changed.`, {
    data: { params },
  })
}

const UNAVAILABLE: readonly SessmgrErrorCode[] = ['store_unavailable', 'login_conflict', 'hook_timeout']

/** Returns how a check refused; undefined when it let the caller through. Rejects with any other failure. */
export async function refusalOf(check: Promise<unknown>): Promise<RestError | undefined> {
  try {
    await check
  } catch (error) {
    if (error instanceof RestError) return error
    throw error
  }
  return undefined
}

/** Turns whatever a handler threw into an answer; undefined for a fault that only the log may know. */
export function restErrorOf(error: unknown): RestError | undefined {
  if (error instanceof RestError) return error
  if (!(error instanceof SessmgrError)) return undefined
  if (error.code === 'invalid_setting') return invalidParams(error.params ?? {})
  if (!UNAVAILABLE.includes(error.code)) return undefined
  return new RestError(503, error.code, error.message, { headers: { 'Retry-After': '2' } })
}
