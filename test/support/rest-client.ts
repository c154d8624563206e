import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'

/** What a REST route answered. */
export interface RestAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The text as JSON. Throws when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for.
  readonly json: any
}

/** What a call carries. */
export interface RestCall {
  readonly headers?: OutgoingHttpHeaders | undefined
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is, with no content type unless `headers` has one. */
  readonly body?: string | Buffer | undefined
}

/** Sends requests as scripts do: nothing is normalised, no header is added. */
export class RestClient {
  readonly #origin: string
  readonly #agent: Agent

  constructor(origin: string, connections = 8) {
    this.#origin = origin
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  send(method: string, path: string, { headers = {}, json, body }: RestCall = {}): Promise<RestAnswer> {
    const content = json === undefined ? body : JSON.stringify(json)
    const type = json === undefined ? {} : { 'content-type': 'application/json' }
    const length = content === undefined ? {} : { 'content-length': Buffer.byteLength(content) }
    return new Promise((resolve, reject) => {
      const options = { method, path, agent: this.#agent, headers: { ...type, ...length, ...headers } }
      const outgoing = request(this.#origin, options, (response) => {
        const parts: string[] = []
        response.setEncoding('utf8').on('data', (part: string) => parts.push(part))
        response.on('error', reject).on('end', () => {
          const text = parts.join('')
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            get json() {
              return JSON.parse(text)
            },
          })
        })
      })
      outgoing.on('error', reject).end(content)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** The header of a caller with an application password. */
export function basic(name: string, password: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` }
}
