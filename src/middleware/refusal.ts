import type { HostRequest, HostResponse, Next } from '../door/host-types.ts'
import { SessmgrError, type SessmgrErrorCode } from '../ground/errors.ts'

/** Options of `passport.authenticate` for a failed login. */
export interface FailureOptions {
  failureRedirect?: string
  failureFlash?: boolean | string | { type?: string; message?: string }
  failureMessage?: boolean | string
  /** A Passport option: passes failures to the error handler, unless there is a redirect. */
  failWithError?: boolean
}

/** The options of `passport.authenticate` that an application may also pass to `req.logIn` itself. */
const SHARED_OPTIONS = ['session', 'keepSessionInfo']

/**
 * Checks whether `passport.authenticate` has started a login, so that sessmgr answers a refusal in its place. If the
 * application has, its callback must be called.
 *
 * Passport always passes options. They are empty, or have properties that would mean nothing in an application's own
 * call. If both may have made the call, it counts as the application's: Passport passes the error on to it as well.
 */
export function isOfPassport(options: object | undefined): boolean {
  if (!options) return false
  const names = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  return names.length === 0 || names.some((name) => !SHARED_OPTIONS.includes(name))
}

const REFUSALS: readonly SessmgrErrorCode[] = ['login_limit_reached', 'login_choice_required', 'session_ended']

/** Checks whether an error means a refused login, which is reported to the user instead of the error handler. */
export function isRefusal(error: unknown): error is SessmgrError {
  return error instanceof SessmgrError && REFUSALS.includes(error.code)
}

/** What is read of a request whose login was refused. */
type RefusedRequest = Pick<HostRequest, 'headers' | 'accepts' | 'flash' | 'session'>

/** Responds to a refused login as Passport does to a wrong password, or redirects to the page for choosing. */
export function refuseLogin(
  request: RefusedRequest,
  response: HostResponse,
  options: FailureOptions,
  refusal: SessmgrError,
  next: Next,
): void {
  const { message, choice } = refusal
  // The response may have been sent already, for example after a timeout.
  if (response.headersSent) return next(refusal)
  // A refused login is handled like a wrong password, unless a script asks for JSON. If the user has to choose, every
  // script gets JSON, because it cannot show the page.
  const isScript = choice ? cannotShowPages(request) : asksForJson(request)
  // With failWithError, the application itself formats the response for scripts.
  if (!options.failWithError && isScript) return sendJson(response, refusal)
  if (!options.failWithError && choice) return redirect(response, choice.url)
  flashFailure(request, options, message)
  keepMessage(request, options, message)
  if (options.failureRedirect && response.redirect) return response.redirect(options.failureRedirect)
  next(refusal)
}

/** Redirects with status 303. With Passport's own 302, a browser may send the password again. */
function redirect(response: HostResponse, url: string): void {
  response.statusCode = 303
  response.setHeader('Location', url)
  response.setHeader('Cache-Control', 'no-store')
  response.end()
}

function sendJson(response: HostResponse, refusal: SessmgrError): void {
  response.statusCode = refusal.status
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Cache-Control', 'no-store')
  response.end(JSON.stringify(refusal))
}

function flashFailure(request: RefusedRequest, { failureFlash }: FailureOptions, message: string): void {
  if (!failureFlash) return
  const flash = typeof failureFlash === 'object' ? failureFlash : {}
  const text = typeof failureFlash === 'string' ? failureFlash : (flash.message ?? message)
  request.flash?.(flash.type ?? 'error', text)
}

function keepMessage(request: RefusedRequest, { failureMessage }: FailureOptions, message: string): void {
  if (!failureMessage || !request.session) return
  const messages = Array.isArray(request.session.messages) ? request.session.messages : []
  request.session.messages = [...messages, typeof failureMessage === 'string' ? failureMessage : message]
}

/** Checks whether the body of a request is JSON, which only scripts send. */
export function sendsJson({ headers }: RefusedRequest): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')
}

/** Checks whether a request prefers JSON to a page. */
export function asksForJson(request: RefusedRequest): boolean {
  if (request.accepts) return request.accepts(['html', 'json']) === 'json'
  return accepts(request, 'json') && !accepts(request, 'html')
}

/** Checks whether a request comes from a script that could not show a page. */
function cannotShowPages(request: RefusedRequest): boolean {
  return asksForJson(request) || (sendsJson(request) && !accepts(request, 'html'))
}

function accepts({ headers }: RefusedRequest, type: string): boolean {
  return headers.accept?.includes(type) === true
}
