import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An application that answers requests. */
export interface Served {
  readonly origin: string
  /** Cuts off the requests that are under way. */
  close(): Promise<void>
}

/** Lets an application answer on a free port of 127.0.0.1. */
export async function serve(app: RequestListener): Promise<Served> {
  const server = createServer(app)
  // Else a client's next request could meet a connection that the server is just giving up as idle.
  server.keepAliveTimeout = 60_000
  // So many may come at once that the usual 511 waiting places do not hold them.
  server.listen(0, '127.0.0.1', 2048)
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
