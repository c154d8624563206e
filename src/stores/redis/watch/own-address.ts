import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { SocketOptions } from './trackable-client.ts'

const SOCKETS = 'net.client.socket'

/**
 * Connects, and returns a function that finds the local address of the connection, in Redis's notation.
 *
 * Node exposes TCP sockets when they are created, but not TLS sockets.
 *
 * @param connect Creates the socket synchronously.
 */
export async function connectedFrom(
  connect: () => Promise<unknown>,
  options: SocketOptions | undefined,
): Promise<string | undefined> {
  let socket: Socket | undefined
  const note = (message: unknown) => {
    socket ??= (message as { socket: Socket }).socket
  }
  subscribe(SOCKETS, note)
  let connecting: Promise<unknown>
  try {
    connecting = connect()
  } finally {
    unsubscribe(SOCKETS, note)
  }
  await connecting
  if (options?.path !== undefined) return `${options.path}:0`
  const { localAddress, localPort } = socket ?? {}
  if (localAddress === undefined) return undefined
  return localAddress.includes(':') ? `[${localAddress}]:${localPort}` : `${localAddress}:${localPort}`
}
