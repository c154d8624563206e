import { WebSocket } from 'ws'
import type { Token } from '../../src/index.ts'

/** A signed-in client of a live host. */
export interface LiveClient {
  readonly cookie: string
  readonly userId: number
  readonly token: Token
}

/** An open connection, and what the client learns when it is closed. */
export interface OpenConnection {
  readonly closed: Promise<string>
  readonly isOpen: () => boolean
  close(): void
}

/** Signs a user in, with a new session. */
export async function signIn(origin: string, userId: number, cookie = ''): Promise<LiveClient> {
  const response = await fetch(`${origin}/login/${userId}`, { method: 'POST', headers: { cookie } })
  const { token } = (await response.json()) as { token: Token }
  return { cookie: String(response.headers.getSetCookie()[0]).split(';')[0] as string, userId, token }
}

/** Returns what a browser sends to open a WebSocket. */
export function upgradeHeaders(origin: string, path: string, cookie: string): string {
  const headers = [
    `GET ${path} HTTP/1.1`,
    `Host: ${new URL(origin).host}`,
    `Origin: ${origin}`,
    `Cookie: ${cookie}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  return `${headers.join('\r\n')}\r\n\r\n`
}

/** Opens a WebSocket. `closed` resolves to its code and reason. */
export async function openSocket(origin: string, { cookie }: { cookie: string }): Promise<OpenConnection & WebSocket> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/ws`, { origin, headers: { cookie } })
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => {
    socket.on('close', (code, reason) => resolve(`${code} ${reason}`))
  })
  await Promise.race([new Promise((resolve) => socket.once('message', resolve)), closed])
  return Object.assign(socket, { closed, isOpen: () => socket.readyState === WebSocket.OPEN })
}

/** Opens an event stream. `closed` resolves to what came last. */
export async function openStream(
  origin: string,
  { cookie }: { cookie: string },
  path = '/events',
): Promise<OpenConnection & { status: number }> {
  const abort = new AbortController()
  const accept = path.startsWith('/events') ? 'text/event-stream' : '*/*'
  const response = await fetch(origin + path, { headers: { cookie, accept }, signal: abort.signal })
  let isOpen = true
  let text = ''
  const read = async () => {
    try {
      for await (const part of response.body ?? []) text += Buffer.from(part).toString()
    } catch {
      text += ' (broken off)'
    }
    isOpen = false
    return text
  }
  return { closed: read(), isOpen: () => isOpen, close: () => abort.abort(), status: response.status }
}

/** Opens one connection of each kind. */
export async function openAll(origin: string, client: LiveClient) {
  const [socket, stream] = await Promise.all([openSocket(origin, client), openStream(origin, client)])
  return { socket, stream, all: [socket, stream] as readonly OpenConnection[] }
}
