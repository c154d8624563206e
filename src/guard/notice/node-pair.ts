import type { IncomingMessage, ServerResponse } from 'node:http'
import { invalidOption } from '../../ground/invalid-option.ts'
import type { ResponseLike } from '../request/device-cookies.ts'
import type { RequestLike } from '../request/host-visit.ts'

/** Returns Node's request. */
export function messageOf(request: RequestLike): IncomingMessage {
  const { raw, req } = request as { raw?: IncomingMessage; req?: IncomingMessage }
  const found = [request as IncomingMessage, raw, req].find((one) => typeof one?.httpVersion === 'string')
  if (found) return found
  throw invalidOption('The request must be from Node, Express or Fastify, or a Koa context')
}

/**
 * Returns Node's response.
 *
 * @param call How the application should write its call.
 * @throws SessmgrError `invalid_option` if there is none.
 */
export function responseOf(response: ResponseLike, call: string): ServerResponse {
  const { raw, res } = Object(response) as { raw?: ServerResponse; res?: ServerResponse }
  const found = [response as ServerResponse, raw, res].find((one) => typeof one?.writeHead === 'function')
  if (found) return found
  throw invalidOption(`Write ${call}: the response is missing`)
}
