import { type Logger, warn } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { HostUsers } from './host.ts'

/** Finds the user of a live session. */
export type FindSignedIn = (userId: UserId) => Promise<unknown>

/** Creates the lookup of signed-in users. It warns the first time that `findById()` does not find the user. */
export function createFindSignedIn(users: HostUsers, logger: Logger): FindSignedIn {
  let warned = false
  return async (userId) => {
    const user = (await users.findById(userId)) ?? undefined
    if (user !== undefined) return user
    // Some applications compare ids as strings.
    const byText = typeof userId === 'number' ? ((await users.findById(String(userId))) ?? undefined) : undefined
    if (byText === undefined && !warned) {
      warned = true
      warn(
        logger,
        'signed-in-user-not-found',
        'host.users.findById() found nobody for a signed-in session, so this user counts as signed out. It received ' +
          (typeof userId === 'number'
            ? 'the id as a number, and then as a string. The user may have been deleted. If you delete users, call ' +
              'limiter.eraseUser(id).'
            : 'a string. If your ids have another type, convert it: findById: (id) => users.get(Number(id)).'),
      )
    }
    return byText
  }
}
