import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A running application. */
export interface Served {
  readonly origin: string
  readonly server: Server
  /** Cuts off requests in progress. */
  close(): Promise<void>
}

/** Serves an application on a free port of 127.0.0.1. */
export async function serve(app: RequestListener): Promise<Served> {
  const server = createServer(app)
  // Otherwise, a client's next request could use a connection that the server is just closing as idle.
  server.keepAliveTimeout = 60_000
  // More requests may arrive at once than the default backlog of 511 can hold.
  server.listen(0, '127.0.0.1', 2048)
  await once(server, 'listening')
  return {
    server,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => cutOff(server),
  }
}

/** Closes a server, and cuts off requests in progress. */
export async function cutOff(server: Pick<Server, 'close' | 'closeAllConnections'>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}
