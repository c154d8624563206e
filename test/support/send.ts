import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { text } from 'node:stream/consumers'

const kept = new Agent({ keepAlive: true })

/** Sends a request on a connection that is kept, and resolves with the head of the answer. `fetch` would say that a script sends it. */
export function send(origin: URL | string, options: RequestOptions, body?: string | Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(origin, { agent: kept, ...options }, resolve)
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // A server may give a kept connection up just when the next request is on its way.
      if (outgoing.reusedSocket && error.code === 'ECONNRESET') send(origin, options, body).then(resolve, reject)
      else reject(error)
    })
    outgoing.end(body)
  })
}

/** The whole answer to a request, as text. */
export async function textOf(answer: IncomingMessage) {
  const { statusCode: status = 0, headers } = answer
  return { status, headers, text: await text(answer) }
}
