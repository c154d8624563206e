import { once } from 'node:events'
import { connect } from 'node:net'

/**
 * Sends the lines of a request's head, valid or not. `write` sends bytes of its body. `answer` is the status and the whole
 * response, once the server has closed the connection.
 */
export function openRequest(origin: string, head: readonly string[]) {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => parts.push(part)).on('error', () => {})
  // Not ended, because Node abandons a request when its sender closes its side.
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  const answer = once(socket, 'close').then((): [status: number, text: string] => {
    const text = Buffer.concat(parts).toString()
    return [Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text]
  })
  return { write: (text: string) => void socket.write(text), answer }
}

/** Sends the bytes of one request, and returns the status and the whole response. */
export async function rawRequest(origin: string, head: readonly string[], body = ''): Promise<[number, string]> {
  const { write, answer } = openRequest(origin, [
    ...head,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ])
  write(body)
  return answer
}
