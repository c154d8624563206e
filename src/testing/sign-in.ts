/** The part of a supertest agent that `signIn` uses. */
export interface SignInAgent<Response extends SignInResponse = SignInResponse> {
  /** Starts a POST request to a path of the application. */
  post(path: string): SignInRequest<Response>
}

/** A supertest request. It is sent when you await it. */
export interface SignInRequest<Response extends SignInResponse = SignInResponse> extends PromiseLike<Response> {
  /** Sets the type of the body. */
  type(type: string): SignInRequest<Response>
  /** Sets the body. */
  send(fields: object): SignInRequest<Response>
}

/** The part of a response that `signIn` reads. */
export interface SignInResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers, by lowercase name. */
  readonly headers: object
  /** The body, if it is JSON. */
  readonly body: unknown
}

/** Options of your login route. */
export interface SignInOptions {
  /** Path of the login route. @default '/login' */
  readonly path?: string
  /** Type of the body. @default 'form' */
  readonly type?: 'form' | 'json'
}

/**
 * Signs a user in through your own login route, and returns the response.
 *
 * @param agent A supertest agent, not `request(app)`. Each agent keeps its own cookies, like a browser.
 * @param user The fields that your login route reads, such as `{ username, password }`.
 * @throws Error for `request(app)`, or if the response is an error, redirects back to the login route, lets the user
 * choose which sessions end, or sets no cookie.
 * @example
 * const phone = request.agent(app)
 * await signIn(phone, { username: 'alice', password: 'secret' })
 */
export async function signIn<Response extends SignInResponse>(
  agent: SignInAgent<Response>,
  user: object,
  { path = '/login', type = 'form' }: SignInOptions = {},
): Promise<Response> {
  // All supertest objects have `del`, but only agents have a cookie jar.
  if ('del' in agent && !('jar' in agent)) {
    throw new Error('signIn() needs an agent, which keeps cookies: request.agent(app), not request(app).')
  }
  const response = await agent.post(path).type(type).send(user)
  const refusal = refusalOf(response, path)
  if (refusal) throw new Error(`POST ${path} ${refusal}`)
  return response
}

/** The cookie of a login that waits for the user's choice. */
const PENDING = /^(__Host-)?sessmgr_pending=/

function refusalOf({ status, headers, body }: SignInResponse, path: string): string | undefined {
  const { location, 'set-cookie': cookies = [] } = headers as { location?: string; 'set-cookie'?: string | string[] }
  if (status >= 400) {
    const code = (body as { code?: unknown } | undefined)?.code
    return `responded with ${status}${code ? ` ${code}` : ''}.`
  }
  if (location && pathOf(location) === pathOf(path)) return 'redirected back: the login was refused.'
  // A cookie without a value is being deleted.
  const set = [cookies].flat().filter((cookie) => /^[^=]*=[^;]/.test(cookie))
  if (set.some((cookie) => PENDING.test(cookie))) return 'made the user choose which sessions end.'
  if (set.length > 0) return undefined
  return "set no cookie, so no user is signed in. Cookies with secure: true need HTTPS; use secure: 'auto'."
}

function pathOf(url: string): string {
  return new URL(url, 'http://localhost').pathname
}
