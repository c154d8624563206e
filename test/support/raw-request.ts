import { once } from 'node:events'
import { connect } from 'node:net'

/** Sends the bytes of one request, valid or not, and returns the status and the whole response. */
export async function rawRequest(origin: string, head: readonly string[], body = ''): Promise<[number, string]> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => parts.push(part))
  socket.on('error', () => {})
  // Not ended, because Node abandons a request when its sender closes its side.
  socket.write(
    `${[...head, `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`,
  )
  await once(socket, 'close')
  const text = Buffer.concat(parts).toString()
  return [Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text]
}
