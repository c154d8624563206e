import { SessmgrError, type SessmgrErrorCode } from './errors.ts'

/** Status of each error, for Express's error handling; codes that are not here are 500. */
const STATUS: Partial<Record<SessmgrErrorCode, number>> = {
  login_limit_reached: 403,
  session_ended: 401,
  invalid_setting: 400,
  login_conflict: 503,
  store_unavailable: 503,
}

const RETRY_AFTER_SECONDS = '2'

/** Gives an error the `status`, `expose` and `headers` that Express and its relatives understand. */
export function withHttpStatus(error: unknown): unknown {
  if (!(error instanceof SessmgrError)) return error
  const status = STATUS[error.code] ?? 500
  const headers = status === 503 ? { 'Retry-After': RETRY_AFTER_SECONDS } : {}
  return Object.assign(error, { status, statusCode: status, expose: status < 500, headers })
}

/** The error shape of every JSON answer. */
export function errorBody(code: string, message: string, status: number) {
  return { code, message, data: { status } }
}
