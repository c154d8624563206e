import { RETRY_SOON, SessmgrError } from '../ground/errors.ts'
import { asUnavailable } from '../guard/stores/store-error.ts'

/** An error response of the REST routes. */
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

/** Creates the response for invalid parameters. */
export function invalidParams(params: Readonly<Record<string, string>>): RestError {
  const names = Object.keys(params).join(', ')
  return new RestError(400, 'rest_invalid_param', `Invalid parameter(s): ${names}. Nothing was changed.`, {
    data: { params },
  })
}

/**
 * Creates the response for an invalid query. Its message does not add that nothing was changed, because queries only
 * read.
 */
export function badQuery(params: Readonly<Record<string, string>>): RestError {
  const message = `Invalid parameter(s): ${Object.keys(params).join(', ')}.`
  return new RestError(400, 'rest_invalid_param', message, { data: { params } })
}

/** Creates the response to a body that cannot be read. */
export function invalidJson(message: string): RestError {
  return new RestError(400, 'rest_invalid_json', message)
}

/** Returns the error response of a failed check, or undefined if it passed. Rejects with any other error. */
export async function refusalOf(check: Promise<unknown>): Promise<RestError | undefined> {
  try {
    await check
  } catch (error) {
    if (error instanceof RestError) return error
    throw error
  }
  return undefined
}

/** Converts an error of a handler to a response. Returns undefined for a fault, which is only logged. */
export function restErrorOf(given: unknown): RestError | undefined {
  const error = asUnavailable(given)
  if (error instanceof RestError) return error
  if (!(error instanceof SessmgrError)) return undefined
  if (error.code === 'invalid_setting') return invalidParams(error.params ?? {})
  // If a hook was merely too slow, the client can retry.
  if (error.status !== 503 && error.code !== 'hook_timeout') return undefined
  return new RestError(503, error.code, error.message, { headers: RETRY_SOON })
}
