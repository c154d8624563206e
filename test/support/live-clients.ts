import { io, type Socket } from 'socket.io-client'
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

/** Opens a socket of socket.io. `closed` resolves to the reason, after the event that came before. */
export async function openIo(
  origin: string,
  { cookie }: { cookie: string },
  from = origin,
  transport: 'websocket' | 'polling' = 'websocket',
): Promise<OpenConnection & { readonly socket: Socket }> {
  const extraHeaders = { cookie, ...(transport === 'websocket' && from && { origin: from }) }
  const socket = io(origin, {
    path: '/io',
    forceNew: true,
    reconnection: false,
    extraHeaders,
    transports: [transport],
  })
  let last = ''
  socket.onAny((event, data) => {
    last = `${event} ${JSON.stringify(data)} `
  })
  const ended = new Promise<string>((resolve) => {
    socket.on('disconnect', (reason) => resolve(last + reason))
    socket.on('connect_error', (error) => resolve(`refused: ${error.message}`))
  })
  await Promise.race([new Promise<void>((resolve) => socket.on('connect', () => resolve())), ended])
  return { closed: ended, isOpen: () => socket.connected, close: () => socket.close(), socket }
}

/** Opens one connection of each kind. */
export async function openAll(origin: string, client: LiveClient) {
  const [socket, stream, io] = await Promise.all([
    openSocket(origin, client),
    openStream(origin, client),
    openIo(origin, client),
  ])
  return { socket, stream, io, all: [socket, stream, io] as readonly OpenConnection[] }
}
