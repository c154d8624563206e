import { once } from 'node:events'
import { connect } from 'node:net'

/** A request whose headers have been sent, but not its body. */
export interface HeldBody {
  /** Sends bytes of the body. */
  write(text: string): void
  /** The status and the whole response, once the server has closed the connection. */
  readonly answer: Promise<{ readonly status: number; readonly text: string }>
}

/** Sends the headers of a request with a body of this length, and holds the body back. */
export async function holdBody(
  origin: string,
  { method = 'POST', path, headers, length }: { method?: string; path: string; headers: object; length: number },
): Promise<HeldBody> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => parts.push(part)).on('error', () => {})
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  const lines = Object.entries({ Host: `${hostname}:${port}`, 'Content-Length': length, ...headers })
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  return {
    write: (text) => void socket.write(text),
    answer: closed.then(() => {
      const text = Buffer.concat(parts).toString()
      return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text }
    }),
  }
}
