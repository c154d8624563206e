import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { invalidOption } from '../ground/invalid-option.ts'
import type { CookieScope } from '../guard/host-types.ts'
import { CheckedVisit } from '../guard/request/visit.ts'

/** A `Request`. Node's objects for it are created when a call needs them. */
export class FetchVisit extends CheckedVisit {
  readonly request: Request
  readonly ip: string | undefined
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

  override get cookieScope(): CookieScope {
    const isSecure = (this.#origin ?? this.request.url).startsWith('https:')
    // A proxy may have terminated HTTPS. A client that lies about it only loses its own cookie.
    return { secure: isSecure || /^https\b/.test(this.request.headers.get('x-forwarded-proto') ?? '') }
  }

  /** Returns the `Set-Cookie` headers of the calls for this request, each of them once. */
  takeCookies(): readonly string[] {
    const response = this.#response
    this.#response = undefined
    // Runs the code that waits for the headers.
    response?.writeHead(response.statusCode)
    return [response?.getHeader('Set-Cookie') ?? []].flat().map(String)
  }
}

/** Returns the body of a request. If nothing reads it, the application still can. */
export function bodyOf(request: Request): Readable {
  return Readable.from(partsOf(request), { objectMode: false })
}

async function* partsOf({ body, bodyUsed, signal }: Request): AsyncGenerator<Buffer> {
  if (bodyUsed || body?.locked) {
    throw invalidOption('The body of this request was read before. Call what "serve" returned first')
  }
  if (body) yield* Readable.fromWeb(body as ReadableStream, { signal })
}
