import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { send, textOf } from './send.ts'

/** The response of a REST route. */
export interface RestAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Returns the text as JSON, or throws. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for.
  readonly json: any
}

/** What a call contains. */
export interface RestCall {
  readonly headers?: OutgoingHttpHeaders | undefined
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent unchanged, with no content type unless `headers` has one. */
  readonly body?: string | Buffer | undefined
}

/** Sends requests as scripts do, without normalizing or adding anything. */
export class RestClient {
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = origin
  }

  async send(method: string, path: string, { headers = {}, json, body }: RestCall = {}): Promise<RestAnswer> {
    const content = json === undefined ? body : JSON.stringify(json)
    const type = json === undefined ? {} : { 'content-type': 'application/json' }
    const length = content === undefined ? {} : { 'content-length': Buffer.byteLength(content) }
    const options = { method, path, headers: { ...type, ...length, ...headers } }
    const answer = await textOf(await send(this.#origin, options, content))
    return {
      ...answer,
      get json() {
        return JSON.parse(answer.text)
      },
    }
  }
}

/** Returns the header of a caller with an application password. */
export function basic(name: string, password: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` }
}
