import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection that sends one request after the other. Its cost is negligible next to the application's. */
class Connection {
  #received = ''
  #settle: ((head: string) => void) | undefined
  #fail: ((error: Error) => void) | undefined

  constructor(readonly socket: Socket) {
    socket.setEncoding('latin1').setNoDelay()
    socket.on('data', (chunk) => this.#take(String(chunk)))
    socket.on('close', () => this.#fail?.(new Error('The application closed a connection.')))
    socket.on('error', () => {})
  }

  /** Sends a request and returns the head of the response. */
  exchange(request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.socket.closed) throw new Error('The application closed a connection.')
      this.#settle = resolve
      this.#fail = reject
      this.socket.write(request)
    })
  }

  #take(chunk: string): void {
    this.#received += chunk
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#received.slice(0, end)
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
    if (this.#received.length < end + 4 + length) return
    this.#received = ''
    if (/^HTTP\/1.1 20/.test(head)) this.#settle?.(head)
    else this.#fail?.(new Error(`The application answered: ${head.split('\r\n', 1)}`))
  }
}

/** Sends a request over a connection, and returns the head of the response. */
type Exchange = (request: string) => Promise<string>
/** A request, or requests that depend on the responses before them and count as one. */
export type Exchanged = string | ((exchange: Exchange) => Promise<unknown>)

/** Connections to an application. */
export interface HttpLoad {
  /** Sends requests over all connections for a while. Returns how many were answered, and in how many milliseconds. */
  slice(next: () => Exchanged, ms: number): Promise<{ count: number; ms: number }>
  /** Sends each of these requests once, and returns the heads of the responses in the order of the requests. */
  all(requests: readonly string[]): Promise<string[]>
  close(): void
}

/** Opens connections to an application on this machine, the same number to each of its processes. */
export async function httpLoad(ports: readonly number[], size: number): Promise<HttpLoad> {
  const connections = await Promise.all(
    Array.from({ length: size }, async (_, index) => {
      const socket = connect(ports[index % ports.length] ?? 0, '127.0.0.1')
      await once(socket, 'connect')
      return new Connection(socket)
    }),
  )
  return {
    async slice(next, ms) {
      const start = performance.now()
      let count = 0
      const run = async (connection: Connection) => {
        const exchange: Exchange = (request) => connection.exchange(request)
        for (; performance.now() - start < ms; count++) {
          const one = next()
          await (typeof one === 'string' ? exchange(one) : one(exchange))
        }
      }
      await Promise.all(connections.map(run))
      return { count, ms: performance.now() - start }
    },
    async all(requests) {
      const heads: string[] = []
      let sent = 0
      const run = async (connection: Connection) => {
        for (let index = sent++; index < requests.length; index = sent++) {
          heads[index] = await connection.exchange(requests[index] ?? '')
        }
      }
      await Promise.all(connections.map(run))
      return heads
    },
    close() {
      for (const { socket } of connections) socket.destroy()
    },
  }
}

/** Returns the request for `GET /me` with a cookie. */
export function getMe(cookie: string): string {
  return `GET /me HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n\r\n`
}

/** Returns the request that signs a user in. */
export function postLogin(username: string): string {
  const body = `username=${encodeURIComponent(username)}&password=x`
  const type = 'Content-Type: application/x-www-form-urlencoded'
  return `POST /login HTTP/1.1\r\nHost: localhost\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Reads the cookies from the head of a response. */
export function cookieOf(head: string): string {
  const cookies = [...head.matchAll(/^set-cookie: ([^;]+)/gim)].map(([, cookie]) => cookie)
  if (cookies.length === 0) throw new Error('The application did not set a cookie.')
  return cookies.join('; ')
}
