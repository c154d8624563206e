import { invalidOption } from '../../ground/invalid-option.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { GuardedRequest, HostRequest, HostResponse } from '../../guard/host-types.ts'
import { guardedRequestOf } from '../../guard/request/host-visit.ts'
import { passportOf } from '../../guard/request/passport-of.ts'
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
  { options }: Pick<ChoiceParts, 'options'>,
  { request, response }: ChoiceCall,
  { userId, user }: ChoosingUser,
  ends: readonly Token[],
): Promise<void> {
  const guarded = guardedRequestOf(request)
  const standing = Standing.at(guarded)
  standing.chosen = ends
  try {
    if (options.complete) await options.complete(request, response, user)
    else await passportLogin(guarded)(user)
  } finally {
    standing.chosen = undefined
  }
  const signedIn = guarded.sessmgr?.session?.userId
  if (String(signedIn) !== String(userId)) throw invalidOption('"complete" of choice() must sign the user in')
}

/** Without Passport, only the application can put the user into the session. */
function passportLogin(request: GuardedRequest): (user: unknown) => Promise<void> {
  const logIn = passportOf(request)
  if (!logIn) throw invalidOption('choice() needs "complete" on a request without Passport')
  return logIn
}
