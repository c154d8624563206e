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
        'host.users.findById() did not find a signed-in user, who now appears signed out. It received a ' +
          `${typeof userId}, as stored in the session. If the user exists, compare ids as strings: ` +
          'findById: (id) => users.find((user) => String(user.id) === String(id)).',
      )
    }
    return byText
  }
}
