import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import type { CookieScope, HostRequest, HostSession, RequestState } from '../guard/host-types.ts'
import { Visit, viewWith } from '../guard/request/visit.ts'

/** A `Request`. Node's objects for it are created when a call needs them. */
export class FetchVisit extends Visit {
  override readonly passed = this
  readonly passportLogin = undefined
  readonly hidesMarkers = false
  readonly body = undefined
  readonly request: Request
  readonly ip: string | undefined
  /** Empty, because sessmgr does not see the data of the session. */
  session: HostSession | undefined = undefined
  sessionID = ''
  sessmgr: RequestState = {}
  readonly #origin: string | undefined
  #raw: IncomingMessage | undefined
  #response: ServerResponse | undefined

  constructor(request: Request, ip: string | undefined, origin: string | undefined) {
    super()
    this.request = request
    this.ip = ip
    this.#origin = origin
  }

  get raw(): IncomingMessage {
    if (this.#raw) return this.#raw
    const { method } = this.request
    const { pathname, search } = new URL(this.request.url)
    const { protocol, host } = new URL(this.#origin ?? this.request.url)
    // There is no connection, only what is read from one.
    const socket = { encrypted: protocol === 'https:', remoteAddress: this.ip, destroyed: false }
    // The header comes first: in Next.js, the URL has the name of the machine.
    const headers = { host, ...Object.fromEntries(this.request.headers), ...(this.#origin && { host }) }
    const version = { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 }
    const sent = { method, url: pathname + search, headers, rawHeaders: Object.entries(headers).flat(), ip: this.ip }
    this.#raw = Object.assign(new IncomingMessage(socket as unknown as Socket), version, sent)
    this.standFor(this.#raw)
    return this.#raw
  }

  /** Collects the cookies of the calls for this request. */
  override get response(): ServerResponse {
    this.#response ??= new ServerResponse(this.raw)
    return this.#response
  }

  get view(): HostRequest {
    return viewWith(this.raw, this)
  }

  override get cookieScope(): CookieScope {
    const isSecure = (this.#origin ?? this.request.url).startsWith('https:')
    // A proxy may have terminated HTTPS. A client that lies about it only loses its own cookie.
    return { secure: isSecure || /^https\b/.test(this.request.headers.get('x-forwarded-proto') ?? '') }
  }

  /** Records whose session the request has, or how it ended. */
  identify(sessionId: string, state: RequestState): void {
    this.sessionID = sessionId
    this.sessmgr = state
    this.session = state.session && ({} as HostSession)
  }

  /** Returns the `Set-Cookie` headers of the calls for this request, each of them once. */
  takeCookies(): readonly string[] {
    const response = this.#response
    this.#response = undefined
    // Runs the code that waits for the headers.
    response?.writeHead(response.statusCode)
    return [response?.getHeader('Set-Cookie') ?? []].flat().map(String)
  }

  async exchange(): Promise<void> {}

  async putBack(): Promise<void> {}

  attend(): void {}
}

/** The body of a request, opened by its first reader. If nothing reads it, the application still can. */
export class FetchBody {
  readonly #request: Request
  #stream: Readable | undefined
  /** Set if the application has read the body before. */
  failure: SessmgrError | undefined

  constructor(request: Request) {
    this.#request = request
  }

  get readableEnded(): boolean {
    return this.#stream?.readableEnded === true
  }

  get destroyed(): boolean {
    return this.#stream?.destroyed === true
  }

  on(event: string, listener: (...values: never[]) => void): Readable {
    this.#stream ??= this.#open()
    return this.#stream.on(event, listener as () => void)
  }

  #open(): Readable {
    const { body, bodyUsed, signal } = this.#request
    if (bodyUsed || body?.locked) {
      this.failure = invalidOption('The body of this request was read before. Call what "serve" returned first')
      throw this.failure
    }
    return body ? Readable.fromWeb(body as ReadableStream, { signal }) : Readable.from([])
  }
}
