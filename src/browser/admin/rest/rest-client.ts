import type { ScreenUser } from '../../../features/admin/screen-tabs.ts'
import { createSignal } from '../shell/signal.ts'
import { noteServerTime, serverNow } from './server-clock.ts'

const TIMEOUT_MS = 20_000

/**
 * Whether the user is still signed in. `forbidden` means signed in, but no longer allowed to use the screen; `other`
 * means that the browser has signed in somebody else meanwhile.
 */
export type SignedIn = 'yes' | 'no' | 'forbidden' | 'other'

/** A response with its entity tag, for detecting later changes. */
export interface Tagged<T> {
  readonly body: T
  readonly tag: string | undefined
}

/** What the page needs to call the server. */
export interface RestVars {
  /** URL of the REST routes, ending in a slash. */
  readonly restUrl: string
  /** The latest nonce for REST calls. */
  restNonce: string
  /** URL of the screen, ending in a slash. */
  readonly adminUrl: string
  /** Responses to calls that the page made before the script ran, by path. Undefined means no response. */
  readonly first?: Map<string, Promise<Response | undefined>>
}

/** Calls the REST routes with the latest nonce. */
interface RestClient {
  /**
   * Calls a route, such as `sessmgr/v1/settings`, and returns the response.
   *
   * If the nonce has expired, gets a new one and tries again.
   *
   * @throws RestFailure if the call is refused, or with status 0 if there is no response.
   */
  request<T>(method: string, path: string, body?: object): Promise<T>
  /**
   * Calls a route that returns an object, and returns the object with its tag. If a `tag` is passed, the server
   * refuses to overwrite values that have changed since that tag was read.
   */
  requestObject<T extends object>(method: string, path: string, body?: object, tag?: string): Promise<Tagged<T>>
  /** Reads an object again. Resolves to `last` if the server reports no change. */
  reread<T extends object>(path: string, last: Tagged<T> | undefined): Promise<Tagged<T>>
  /**
   * Reads a file.
   *
   * @throws RestFailure like `request`.
   */
  download(path: string): Promise<Blob>
  /** Checks whether the user is signed in, and gets a new nonce. */
  check(): Promise<SignedIn>
  /** Returns the user in whose name calls are made. */
  user(): ScreenUser
  /** Returns the user whom the browser has signed in. */
  newest(): ScreenUser
  /** Makes calls in the name of the user whom the browser has signed in. */
  goOn(): Promise<SignedIn>
  /** Returns a sentence on why the user was signed out, or an empty string if the server does not know. */
  notice(): Promise<string>
  signedIn(): SignedIn
  subscribe(listener: () => void): () => void
}

/** What a call sends, and how its response is read. */
interface ExchangeParts<T> {
  readonly body?: object | undefined
  readonly tag?: string | undefined
  readonly last?: Tagged<T> | undefined
  /** Reads the response's body. @default reads JSON */
  read?(response: Response): Promise<unknown>
}

/** Creates the client. It keeps `vars.restNonce` up to date for add-ons that make their own calls. */
export function createRestClient(vars: RestVars, nonceHeader: string, first: ScreenUser): RestClient {
  const call = createCall(vars, nonceHeader)
  const signedIn = createSignal<SignedIn>('yes')
  let user = first
  let newest = first
  let checking: Promise<SignedIn> | undefined

  function become(state: SignedIn): SignedIn {
    if (state !== signedIn.value()) signedIn.become(state)
    return state
  }

  async function askForNonce(): Promise<SignedIn> {
    const response = await send('GET', vars.adminUrl, {})
    if (response.status === 401) return become('no')
    if (response.status === 403) return become('forbidden')
    const answer = response.ok ? await jsonOf(response) : undefined
    const { restNonce, user: caller } = (answer ?? {}) as Partial<RestVars & { user: ScreenUser }>
    if (typeof restNonce !== 'string' || !caller) throw failureOf(response, answer, `GET ${vars.adminUrl}`)
    newest = caller
    if (caller.id !== user.id) return become('other')
    vars.restNonce = restNonce
    return become('yes')
  }

  function check(): Promise<SignedIn> {
    checking ??= askForNonce().finally(() => {
      checking = undefined
    })
    return checking
  }

  async function exchange<T>(
    method: string,
    path: string,
    { body, tag, last, read = jsonOf }: ExchangeParts<T>,
  ): Promise<Tagged<T>> {
    let response = await call(method, path, body, tag)
    let answer = await read(response)
    // A call that was refused because of its nonce had no effect, so it is safe to repeat.
    if (isStale(response, answer) && (await check()) === 'yes') {
      response = await call(method, path, body, tag)
      answer = await read(response)
    }
    const isUnchanged = last !== undefined && response.status === 304
    if (!isUnchanged && (!response.ok || answer === undefined)) {
      throw failureOf(response, answer, nameOf(vars, method, path))
    }
    become('yes')
    if (isUnchanged) return last
    return { body: answer as T, tag: response.headers.get('ETag') ?? undefined }
  }

  async function exchangeObject<T extends object>(...[method, path, parts]: Parameters<typeof exchange<T>>) {
    const answer = await exchange(method, path, parts)
    if (typeof answer.body === 'object' && answer.body !== null) return answer
    throw new RestFailure({ status: 200, call: nameOf(vars, method, path) })
  }

  return {
    request: async <T>(method: string, path: string, body?: object) => (await exchange<T>(method, path, { body })).body,
    requestObject: (method, path, body, tag) => exchangeObject(method, path, { body, tag }),
    reread: (path, last) => exchangeObject('GET', path, { tag: last?.tag, last }),
    download: async (path) => (await exchange<Blob>('GET', path, { read: fileOf })).body,
    check,
    user: () => user,
    newest: () => newest,
    goOn() {
      user = newest
      return check()
    },
    notice: () => readNotice(vars),
    signedIn: signedIn.value,
    subscribe: signedIn.subscribe,
  }
}

/** Returns the function that makes a call with the latest nonce, and keeps the one that the response brings. */
function createCall(vars: RestVars, nonceHeader: string) {
  return async (method: string, path: string, body?: object, tag?: string): Promise<Response> => {
    const headers: Record<string, string> = { [nonceHeader]: vars.restNonce }
    if (body) headers['Content-Type'] = 'application/json'
    if (tag) headers[method === 'GET' ? 'If-None-Match' : 'If-Match'] = tag
    const started = method === 'GET' && !tag && (await takeStarted(vars, path))
    const response = started || (await send(method, vars.restUrl + path, headers, body))
    vars.restNonce = response.headers.get(nonceHeader) || vars.restNonce
    noteServerTime(Date.parse(response.headers.get('Date') ?? ''))
    return response
  }
}

/** Sends a call. The timeout covers only the wait for the headers, so a file may take longer. */
async function send(method: string, url: string, headers: Record<string, string>, body?: object): Promise<Response> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), TIMEOUT_MS)
  try {
    return await fetch(url, {
      method,
      headers: { Accept: 'application/json', ...headers },
      credentials: 'same-origin',
      cache: 'no-store',
      signal: late.signal,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  } catch {
    // After the timeout, further attempts would make users wait three times as long.
    throw new RestFailure({ status: 0, code: 'no_answer', retryable: !late.signal.aborted })
  } finally {
    clearTimeout(timer)
  }
}

async function readNotice({ restUrl }: RestVars): Promise<string> {
  const response = await send('GET', `${restUrl}sessmgr/v1/me/notice`, {}).catch(() => undefined)
  const answer = response?.status === 200 ? await jsonOf(response) : undefined
  const { text } = (answer ?? {}) as { text?: unknown }
  return typeof text === 'string' ? text : ''
}

/** Returns the method and path of a call, without the query, which may contain a user name. */
function nameOf({ restUrl }: RestVars, method: string, path: string): string {
  return `${method} ${new URL(restUrl + path, window.location.href).pathname}`
}

/** Takes the response to a call that the page made before the script ran. Each is used only once. */
function takeStarted({ first }: RestVars, path: string): Promise<Response | undefined> | undefined {
  const response = first?.get(path)
  first?.delete(path)
  return response
}

function isStale({ status }: Response, answer: unknown): boolean {
  return status === 401 || (status === 403 && (answer as { code?: unknown })?.code === 'rest_cookie_invalid_nonce')
}

/** Reads JSON. Resolves to undefined for anything else, such as the error page of a proxy. */
async function jsonOf(response: Response): Promise<unknown> {
  return response.json().catch(() => undefined)
}

/** Reads a file, or JSON if the call was refused. The page of a proxy must not be saved as the file. */
async function fileOf(response: Response): Promise<unknown> {
  return response.ok && response.headers.has('Content-Disposition') ? response.blob() : jsonOf(response)
}

/** Details of a failed call. */
interface FailureParts {
  /** HTTP status, or 0 if there was no response. */
  readonly status: number
  /** Error code. Undefined if the response is not from sessmgr. */
  readonly code?: string | undefined
  /** The server's human-readable message. */
  readonly message?: string | undefined
  /** Method and path of the call. */
  readonly call?: string | undefined
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly retryable?: boolean | undefined
  /** When the server asks to try again, in milliseconds. */
  readonly retryAt?: number | undefined
}

/** The error for a REST call that was refused or got no response. */
export class RestFailure extends Error {
  override readonly name = 'RestFailure'
  /** HTTP status, or 0 if there was no response. */
  readonly status: number
  readonly code: string | undefined
  /** Method and path of the call, or an empty string if there was no response. */
  readonly call: string
  /** What is wrong with each invalid parameter. */
  readonly params: Readonly<Record<string, string>>
  /** Whether the same call may succeed later. */
  readonly isPassing: boolean
  /** When the server asks to try again, in milliseconds. */
  readonly retryAt: number | undefined

  constructor({ status, code, message = '', call = '', params = {}, retryable, retryAt }: FailureParts) {
    super(message)
    this.status = status
    this.code = code
    this.call = call
    this.params = params
    this.retryAt = retryAt
    this.isPassing = retryable ?? (status === 0 || status >= 500)
  }
}

/** Converts the server's refusal to an error. A response in any other format has no message to show. */
function failureOf({ status, headers }: Response, body: unknown, call: string): RestFailure {
  const { code, message, data } = (body ?? {}) as { code?: unknown; message?: unknown; data?: Partial<FailureParts> }
  const own = typeof code === 'string' && typeof message === 'string' ? { code, message } : {}
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN)
  const retryAt = seconds >= 0 ? serverNow() + seconds * 1000 : undefined
  return new RestFailure({ status, call, params: data?.params, retryable: data?.retryable, retryAt, ...own })
}
