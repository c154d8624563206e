import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { text } from 'node:stream/consumers'

const kept = new Agent({ keepAlive: true })

/**
 * Sends a request on a kept-alive connection, and resolves with the headers of the response. `fetch` would mark it as
 * sent by a script.
 */
export function send(origin: URL | string, options: RequestOptions, body?: string | Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(origin, { agent: kept, ...options }, resolve)
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // A server may close an idle connection just when the next request is sent.
      if (outgoing.reusedSocket && error.code === 'ECONNRESET') send(origin, options, body).then(resolve, reject)
      else reject(error)
    })
    outgoing.end(body)
  })
}

/** Returns the whole response as text. */
export async function textOf(answer: IncomingMessage) {
  const { statusCode: status = 0, headers } = answer
  return { status, headers, text: await text(answer) }
}
