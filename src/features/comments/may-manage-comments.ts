import type { Hooks } from '../../hooks/hooks.ts'
import type { Host } from '../../host/host.ts'
import type { Caller } from '../../routes/authenticate-caller.ts'
import { RestError } from '../../routes/rest-error.ts'
import { requireCommentsAccess } from './require-comments-access.ts'

/** Tells whether somebody who is signed in may manage the lazy comments. */
export async function mayManageComments(hooks: Hooks, host: Host, caller: Caller): Promise<boolean> {
  try {
    await requireCommentsAccess(hooks, host, caller)
    return true
  } catch (error) {
    if (error instanceof RestError) return false
    throw error
  }
}
