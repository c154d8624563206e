import { Agent, type IncomingHttpHeaders } from 'node:http'
import { send, textOf } from './send.ts'

/** The parts of a response that a load run reads. */
export interface LoadAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The session cookie that was set, as the browser sends it back; undefined if none was set, or if it was cleared. */
  readonly cookie: string | undefined
  readonly ms: number
}

export interface LoadRequest {
  readonly method?: 'GET' | 'POST'
  readonly cookie?: string | undefined
  readonly form?: Record<string, string>
}

/** Sends many requests over a few connections. */
export class HttpLoad {
  readonly #agent: Agent

  constructor(connections: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' })
  }

  /** Posts the login form of the example application. */
  login(origin: string, username: string, password: string): Promise<LoadAnswer> {
    return this.send(origin, '/login', { method: 'POST', form: { username, password } })
  }

  async send(origin: string, path: string, { method = 'GET', cookie, form }: LoadRequest = {}): Promise<LoadAnswer> {
    const start = performance.now()
    const body = form && new URLSearchParams(form).toString()
    const headers = {
      accept: 'application/json',
      ...(cookie === undefined ? {} : { cookie }),
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length }),
    }
    const answer = await textOf(await send(origin + path, { method, agent: this.#agent, headers }, body))
    return { ...answer, cookie: sessionCookie(answer.headers), ms: performance.now() - start }
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Returns the raw session id in a cookie. */
export function sessionIdOf(cookie: string): string {
  return decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1))
    .slice(2)
    .split('.')[0] as string
}

function sessionCookie(headers: IncomingHttpHeaders): string | undefined {
  const pair = headers['set-cookie']
    ?.map((header) => header.split(';')[0])
    .find((text) => text?.startsWith('connect.sid='))
  return pair === 'connect.sid=' ? undefined : pair
}
