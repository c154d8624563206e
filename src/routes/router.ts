import type { ZodMiniType } from 'zod/mini'
import type { HostResponse, Next, RoutedRequest } from '../door/host-types.ts'
import { messageOf, SessmgrError } from '../ground/errors.ts'
import { FAILURES, helpAt } from '../ground/help.ts'
import type { Logger } from '../ground/logger.ts'
import { restSentence } from '../texts/rest-sentence.ts'
import type { ReaderTexts, TextsFor } from '../texts/texts-for.ts'
import {
  answerSafely,
  badQuery,
  compressed,
  invalidParams,
  RestAnswer,
  RestError,
  restErrorOf,
  sendAnswer,
  unlessKnown,
} from './answer.ts'
import { jsonBody } from './body.ts'
import { authenticateCaller, type Caller, type CallerParts, findCallerAgain, requireCapability } from './caller.ts'
import { RestDownload, sendDownload } from './download.ts'
import { restPath } from './late-routes.ts'

/** One authorized call to a route. */
export interface RestCall<Params> {
  /** Undefined if the route is public and the caller is anonymous. */
  readonly caller: Caller | undefined
  readonly request: RoutedRequest
  readonly response: HostResponse
  /** Validated values from the path, and from the query of a GET or the body of any other method. */
  readonly params: Params
}

/** Schemas of the parameters and the result. */
interface RouteSchemas {
  readonly params: ZodMiniType
  readonly response: ZodMiniType
}

/** A route of the REST API. */
export interface RestRoute<Params = unknown> {
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[]
  /** Path with `{name}` for parameters. */
  readonly path: string
  /** One sentence for the OpenAPI document. */
  readonly summary: string
  /** Required capability, or a custom check. Undefined for a public route. */
  readonly access: string | ((caller: Caller | undefined) => Promise<unknown>) | undefined
  /**
   * Whether the route is about the caller's own session. If so, no user is looked up, and an application password is
   * not accepted. @default false
   */
  readonly isOwn?: boolean
  /** Whether the route accepts only a session with a nonce, not an application password. @default false */
  readonly needsSession?: boolean
  /** Whether responses have an entity tag, so that a client with the current version gets 304. @default false */
  readonly isTagged?: boolean
  /** Media types of the response. @default only JSON */
  readonly mediaTypes?: readonly string[]
  /**
   * Returns the name of a middleware that the route needs but that is not mounted, such as `limiter.account()`. The
   * route then does not exist.
   */
  lacks?(): string | undefined
  /** Whether a call without a body is an error. @default false */
  readonly needsBody?: boolean
  /** Returns the schemas. Called for each request, because the application may change what is valid. */
  schemas(): RouteSchemas | Promise<RouteSchemas>
  /** Rejects parameters with a specific code before the schema checks them. */
  precheck?(params: Readonly<Record<string, unknown>>): void
  handle(call: RestCall<Params>): Promise<object | RestAnswer | RestDownload>
}

/** Returns a route without the type of its parameters, so that one list can hold all routes. */
export function restRoute<Params>(route: RestRoute<Params>): RestRoute {
  return route as RestRoute
}

/** The methods that a POST may stand for. */
const OVERRIDES: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE']
const NO_BODY = 'must be a JSON object with the changes; the query is not read'
const IN_BODY = 'must be in the body; the query is not read'

export interface RouterParts extends CallerParts, RouterNotes {
  readonly routes: readonly RestRoute[]
  readonly logger: Logger
  readonly textsFor: TextsFor
}

/** Callbacks that warn about middleware in the wrong order. */
export interface RouterNotes {
  /** Called for each request with a nonce, which works only together with a session. */
  noteNonce?(request: RoutedRequest): void
  /** Called for each request to a non-public route without a nonce or an `Authorization` header. */
  noteBareCall?(request: RoutedRequest): void
}

/** Returns the middleware for the REST routes, whose paths are relative to where it is mounted. */
export function createRouter(parts: RouterParts) {
  const nonceHeader = parts.nonceHeader.toLowerCase()
  const routes = parts.routes.map((route) => ({ route, pattern: patternOf(route.path) }))

  return function sessmgrRouter(request: RoutedRequest, response: HostResponse, next: Next): void {
    const path = restPath(request)
    if (path === undefined) return next()
    const refusing = (error: unknown) => refuse(request, response, error)
    // Sending the error response may fail as well, because it runs the same header listeners.
    answerSafely(response, answer(request, response, path).catch(refusing), refusing)
  }

  async function refuse(request: RoutedRequest, response: HostResponse, error: unknown): Promise<void> {
    // Sending the first response has failed, and it is too late for another.
    if (response.headersSent) throw error
    const { status, code, message, data, headers } = restErrorOf(error) ?? fault(parts.logger, error)
    const texts = parts.textsFor(request)
    const body = { code, message: restSentence(message, texts, code), data: { status, ...worded(data, texts) } }
    sendAnswer(response, RestAnswer.json(body, { status, headers }))
  }

  async function answer(request: RoutedRequest, response: HostResponse, path: string): Promise<void> {
    const found = routesAt(routes, path)
    const method = methodOf(request)
    const match = found.find(({ route }) => (route.methods as readonly (string | undefined)[]).includes(method))
    if (!match) throw wrongMethod(found.map(({ route }) => route))
    const { route, groups } = match

    const { headers } = request
    if (nonceHeader in headers) parts.noteNonce?.(request)
    else if (route.access !== undefined && headers.authorization === undefined) parts.noteBareCall?.(request)
    const { isOwn = false, needsSession = false } = route
    const isOpen = route.access === undefined
    let caller = await authenticateCaller(parts, request, response, { isOpen, isOwn, needsSession })
    await requireAccess(route, caller, request)
    const fields = method === 'GET' ? queryOf(request) : await jsonBody(request)
    if (method !== 'GET' && caller) {
      // Reading the body can take a while. The session may have ended in the meantime, or the user may have lost the
      // permission.
      caller = await findCallerAgain(parts, request, caller, isOwn)
      await requireAccess(route, caller, request)
    }
    if (fields === undefined && route.needsBody) throw invalidParams({ body: NO_BODY })
    const given = { ...fields, ...groups }
    const { params } = await route.schemas()
    if (method !== 'GET') refuseQuery(queryOf(request), params, groups)
    route.precheck?.(given)
    const checked = params.safeParse(given)
    if (!checked.success) throw (method === 'GET' ? badQuery : invalidParams)(problemsOf(checked.error.issues))
    const result = await route.handle({ caller, request, response, params: checked.data })
    if (result instanceof RestDownload) {
      const mayGoOn = async () =>
        requireAccess(route, caller && (await findCallerAgain(parts, request, caller, isOwn)), request)
      return sendDownload(response, result, request.method === 'HEAD', mayGoOn)
    }
    const whole = result instanceof RestAnswer ? result : RestAnswer.json(inLanguage(result, request))
    const known = route.isTagged ? unlessKnown(whole, headers['if-none-match']) : whole
    sendAnswer(response, await compressed(known, request))
  }

  function inLanguage(result: object, request: RoutedRequest): object {
    if (!('message' in result) || typeof result.message !== 'string') return result
    return { ...result, message: restSentence(result.message, parts.textsFor(request)) }
  }

  async function requireAccess(
    { access }: RestRoute,
    caller: Caller | undefined,
    request: RoutedRequest,
  ): Promise<void> {
    try {
      if (typeof access === 'string') await requireCapability(parts.host, caller, access)
      else await access?.(caller)
    } catch (error) {
      const isNonceMissing = !caller && !(nonceHeader in request.headers) && parts.readerOf(request) !== undefined
      const is401 = error instanceof RestError && error.status === 401
      throw is401 && isNonceMissing ? withoutNonce(parts.nonceHeader, error) : error
    }
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

/**
 * Returns the method that the client means. WordPress clients send PUT, PATCH and DELETE as a POST that names the
 * method in a header or in the query. Returns undefined if a POST names any other method, because a POST is not what
 * the client asked for.
 */
function methodOf(request: RoutedRequest): string | undefined {
  const { method = 'GET', headers } = request
  if (method === 'HEAD') return 'GET'
  const named = method === 'POST' ? (queryOf(request)._method ?? headers['x-http-method-override']) : undefined
  if (named === undefined) return method
  const meant = String(named).toUpperCase()
  return OVERRIDES.includes(meant) ? meant : undefined
}

function queryOf(request: RoutedRequest): Record<string, unknown> {
  const query = new URLSearchParams((request.url ?? '').split('?').slice(1).join('?'))
  const names = [...new Set(query.keys())]
  // A name that occurs twice becomes a list, which no schema accepts as a string.
  const entries = names.map((name) => [name, query.getAll(name).length > 1 ? query.getAll(name) : query.get(name)])
  return Object.fromEntries(entries)
}

/**
 * Refuses a write whose parameters are in the query. Ignoring them would look like a success, or end more sessions than
 * the caller named.
 *
 * @throws RestError 400 `rest_invalid_param`.
 */
function refuseQuery(query: object, schema: ZodMiniType, groups: object): void {
  const names = Object.keys((schema as { shape?: object }).shape ?? {}).filter((name) => !(name in groups))
  const misplaced = names.filter((name) => Object.hasOwn(query, name))
  if (misplaced.length > 0) throw invalidParams(Object.fromEntries(misplaced.map((name) => [name, IN_BODY])))
}

/**
 * Returns a message for each invalid parameter. An unknown key is reported by its own name, not by that of the object
 * that contains it.
 */
function problemsOf(
  issues: readonly { path: readonly PropertyKey[]; message: string; keys?: readonly string[] }[],
): Record<string, string> {
  const problems = issues.flatMap(({ path, message, keys }) =>
    keys ? keys.map((key) => [key, 'is unknown']) : [[path.map(String).join('.') || 'body', message]],
  )
  return Object.fromEntries(problems)
}

/** Returns the data of an error, with the problem of each parameter in the user's language. */
function worded(data: object, texts: ReaderTexts): object {
  if (!('params' in data)) return data
  const problems = Object.entries(data.params as Readonly<Record<string, string>>)
  return { ...data, params: Object.fromEntries(problems.map(([name, text]) => [name, restSentence(text, texts)])) }
}

interface FoundRoute {
  readonly route: RestRoute
  readonly groups: Readonly<Record<string, string>>
}

/**
 * Returns the routes of a path.
 *
 * @throws RestError 404 if there are none. The message names the middleware that the application has not mounted.
 */
function routesAt(routes: readonly { route: RestRoute; pattern: RegExp }[], path: string): readonly FoundRoute[] {
  const found: FoundRoute[] = []
  let lacking: string | undefined
  for (const { route, pattern } of routes) {
    const match = pattern.exec(path)
    if (match) lacking = route.lacks?.()
    if (match && lacking === undefined) found.push({ route, groups: match.groups ?? {} })
  }
  if (found.length > 0) return found
  const reason = lacking === undefined ? '' : `, because the application has not mounted ${lacking}`
  throw new RestError(404, 'rest_no_route', `This route does not exist${reason}.`)
}

function wrongMethod(routes: readonly RestRoute[]): RestError {
  const methods = routes.flatMap((route) => route.methods)
  const allowed = methods.includes('GET') ? ['GET', 'HEAD', ...methods.filter((name) => name !== 'GET')] : methods
  const headers = { Allow: allowed.join(', ') }
  return new RestError(405, 'rest_method_not_allowed', 'This route does not support this method.', { headers })
}

function withoutNonce(nonceHeader: string, { headers }: RestError): RestError {
  const message = `You are signed in, but the nonce is missing. Send the ${nonceHeader} header with the value of limiter.nonce(request).`
  return new RestError(401, 'rest_forbidden', message, { headers })
}

/** Logs an unexpected error without the parameters of the call, which may be secret. The client sees no details. */
function fault(logger: Logger, error: unknown): RestError {
  const section = error instanceof SessmgrError ? error.code : FAILURES
  logger.error(`A REST call failed. See ${helpAt(section)}`, { error: messageOf(error) })
  return new RestError(500, 'rest_internal_error', 'Something went wrong on the server.')
}
