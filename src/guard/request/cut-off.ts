import type { GuardedRequest, HostResponse } from '../host-types.ts'
import { Standing } from './standing.ts'

/**
 * Lifetime of a new session until the response to its login saves it. An interrupted login must not occupy a slot for
 * days.
 */
export const UNCONFIRMED_MS = 120_000

/** Returns the response to a request that may log in. */
export function responseTo(request: GuardedRequest): HostResponse | undefined {
  return Standing.of(request)?.response ?? (request as { res?: HostResponse }).res
}

/** Checks whether a browser has hung up before it could receive the head of a response, and with it any cookie. */
export function isCutOff(request: GuardedRequest): boolean {
  return request.socket?.destroyed === true && responseTo(request)?.headersSent === false
}

/** Calls `cutOff` if the browser hangs up before it could receive the head of the response, or has done so already. */
export function onCutOff(request: GuardedRequest, cutOff: () => void): void {
  const response = responseTo(request)
  if (isCutOff(request)) cutOff()
  else if (response?.headersSent === false) response.once('close', () => isCutOff(request) && cutOff())
}
