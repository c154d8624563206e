import type { ServerResponse } from 'node:http'

/** Returns the `Set-Cookie` headers that a response has so far. */
export function cookiesOf(response: Pick<ServerResponse, 'getHeader'>): string[] {
  return [response.getHeader('Set-Cookie') ?? []].flat().map(String)
}
