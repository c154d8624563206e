import { invalidOption } from '../../ground/invalid-option.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { HostRequest, HostResponse } from '../../guard/host-types.ts'
import { guardedRequestOf, visitOf } from '../../guard/request/host-visit.ts'
import { Standing } from '../../guard/request/standing.ts'
import type { Token } from '../../sessions/token.ts'
import type { ChoiceParts } from './choice-parts.ts'

/** A request for the page, and its response. */
export interface ChoiceCall {
  readonly request: HostRequest
  readonly response: HostResponse
}

/** The user of a pending login: the id, and the application's user object. */
export interface ChoosingUser {
  readonly userId: UserId
  readonly user: unknown
}

/**
 * Signs a user in as the application does.
 *
 * @param ends The sessions that the user chose. The login ends them.
 */
export async function signIn(
  { options, login }: ChoiceParts,
  { request, response }: ChoiceCall,
  { userId, user }: ChoosingUser,
  ends: readonly Token[],
): Promise<void> {
  const guarded = guardedRequestOf(request)
  const standing = Standing.at(guarded)
  standing.chosen = ends
  try {
    if (options.complete) await options.complete(request, response, user)
    else await (passportLogin(request, user) ?? login(request, user))
  } finally {
    standing.chosen = undefined
  }
  const signedIn = guarded.sessmgr?.session?.userId
  if (String(signedIn) !== String(userId)) throw invalidOption('"complete" of choice() must sign the user in')
}

/** Signs a user in with the framework's Passport. Returns undefined if it has none. */
function passportLogin(request: HostRequest, user: unknown): Promise<void> | undefined {
  const visit = visitOf(request)
  if (visit) return visit.passportLogin?.(user)
  const logIn = request.logIn as ((user: unknown, done: (error?: unknown) => void) => void) | undefined
  if (typeof logIn !== 'function') return undefined
  return new Promise((resolve, reject) => {
    logIn.call(request, user, (error) => (error ? reject(error) : resolve()))
  })
}
