import type { Logger } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { HostUsers } from './host.ts'

/** Finds the user of a live session. */
export type FindSignedIn = (userId: UserId) => Promise<unknown>

/** Creates the look-up of signed-in users. It warns once when the application does not find one. */
export function createFindSignedIn(users: HostUsers, logger: Logger): FindSignedIn {
  let warned = false
  return async (userId) => {
    const user = (await users.findById(userId)) ?? undefined
    if (user !== undefined) return user
    // Applications from before ids kept their type compare strings.
    const byText = typeof userId === 'number' ? ((await users.findById(String(userId))) ?? undefined) : undefined
    if (byText === undefined && !warned) {
      warned = true
      logger.warn(
        `host.users.findById() found nobody for a signed-in user, who is therefore treated as signed out. It was given a ` +
          `${typeof userId}, as in the session. If that user exists, compare ids as strings: ` +
          'findById: (id) => users.find((user) => String(user.id) === String(id)).',
      )
    }
    return byText
  }
}
