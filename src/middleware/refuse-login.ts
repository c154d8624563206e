import { errorBody } from '../ground/answer-body.ts'
import { SessmgrError, type SessmgrErrorCode } from '../ground/errors.ts'
import type { HostRequest, HostResponse, Next } from '../guard/host-types.ts'

/** The options of a `passport.authenticate` call that say what a failed login looks like. */
export interface FailureOptions {
  failureRedirect?: string
  failureFlash?: boolean | string | { type?: string; message?: string }
  failureMessage?: boolean | string
  /** Passport's own switch: hand a failure that is not redirected to the error handler, whatever the client. */
  failWithError?: boolean
}

const REFUSALS: readonly SessmgrErrorCode[] = ['login_limit_reached', 'session_ended']

/** Tells the refusal of a login, which goes to the user, from a failure, which goes to the error handler. */
export function isRefusal(error: unknown): error is SessmgrError {
  return error instanceof SessmgrError && REFUSALS.includes(error.code)
}

/** Answers a login that was refused as Passport answers a wrong password, as far as this call asked for it. */
export function refuseLogin(
  request: HostRequest,
  response: HostResponse,
  options: FailureOptions,
  refusal: SessmgrError,
  next: Next,
): void {
  const { message } = refusal
  // A time-out, for one, has answered already.
  if (response.headersSent) return next(refusal)
  // Who asked for failWithError answers scripts in the application's own shape.
  if (!options.failWithError && asksForJson(request)) return sendJson(response, refusal)
  flashFailure(request, options, message)
  keepMessage(request, options, message)
  if (options.failureRedirect && response.redirect) return response.redirect(options.failureRedirect)
  next(refusal)
}

function asksForJson(request: HostRequest): boolean {
  if (request.accepts) return request.accepts(['html', 'json']) === 'json'
  const accept = request.headers.accept ?? ''
  return accept.includes('json') && !accept.includes('html')
}

function sendJson(response: HostResponse, { code, message, status }: SessmgrError): void {
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Cache-Control', 'no-store')
  response.end(JSON.stringify(errorBody(code, message, status)))
}

function flashFailure(request: HostRequest, { failureFlash }: FailureOptions, message: string): void {
  if (!failureFlash) return
  const flash = typeof failureFlash === 'object' ? failureFlash : {}
  const text = typeof failureFlash === 'string' ? failureFlash : (flash.message ?? message)
  request.flash?.(flash.type ?? 'error', text)
}

function keepMessage(request: HostRequest, { failureMessage }: FailureOptions, message: string): void {
  if (!failureMessage || !request.session) return
  const messages = Array.isArray(request.session.messages) ? request.session.messages : []
  request.session.messages = [...messages, typeof failureMessage === 'string' ? failureMessage : message]
}
