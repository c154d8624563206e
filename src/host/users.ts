import { type Logger, warn } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { HostUsers } from './host.ts'

/** Kind of a user identifier. */
export type IdentifierKind = 'id' | 'login' | 'email'

/**
 * Finds the users that an administrator may have meant. Digits are an id, a string with an `@` is an email address, and
 * anything else is both a login name and an id. Surrounding spaces are ignored.
 *
 * @param kind The kind of identifier, if the administrator chose one.
 * @returns Two users if the string is one user's login name and another's id.
 */
export async function resolveUsers<User>(
  users: HostUsers<User>,
  identifier: string,
  kind?: IdentifierKind,
): Promise<readonly User[]> {
  const name = identifier.trim()
  const found: User[] = []
  if (name === '') return found
  for (const one of kind === undefined ? kindsOf(name) : [kind]) {
    const user = await FINDERS[one](users as HostUsers, name)
    if (user === undefined || user === null) continue
    const { id } = users.summary(user as User)
    if (!found.some((other) => users.summary(other).id === id)) found.push(user as User)
  }
  return found
}

const FINDERS: Record<IdentifierKind, (users: HostUsers, name: string) => unknown> = {
  id: userById,
  login: (users, name) => users.findByLogin(name),
  email: (users, name) => users.findByEmail(name),
}

function kindsOf(name: string): readonly IdentifierKind[] {
  if (/^\d+$/.test(name)) return ['id']
  return name.includes('@') ? ['email'] : ['login', 'id']
}

async function userById(users: HostUsers, id: string): Promise<unknown> {
  return (await confirmed(users, id, await users.findById(id))) ?? (await userByNumber(users, id))
}

/** Looks up the id as a number, because applications with numeric ids may compare only numbers. */
async function userByNumber(users: HostUsers, id: string): Promise<unknown> {
  if (!Number.isSafeInteger(Number(id)) || String(Number(id)) !== id) return undefined
  try {
    return await confirmed(users, id, await users.findById(Number(id)))
  } catch (error) {
    // The application called a string method, so its ids are strings.
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/**
 * Returns the found user only if the user has this id. Many applications convert the string, so that "0x1", "1e0" and
 * "1.0" find user 1.
 */
function confirmed(users: HostUsers, id: string, user: unknown): unknown {
  if (user === undefined || user === null) return undefined
  return String(users.summary(user).id).toLowerCase() === id.toLowerCase() ? user : undefined
}

/** Finds the user of a live session. */
export type FindSignedIn = (userId: UserId) => Promise<unknown>

/** Creates the lookup of signed-in users. It warns if `findById()` finds no user. */
export function createFindSignedIn(users: HostUsers, logger: Logger): FindSignedIn {
  return async (userId) => {
    const user = (await users.findById(userId)) ?? undefined
    if (user !== undefined) return user
    // Some applications compare ids as strings.
    const byText = typeof userId === 'number' ? ((await users.findById(String(userId))) ?? undefined) : undefined
    if (byText === undefined) {
      warn(
        logger,
        'rest-routes-refuse-users',
        'host.users.findById() found nobody for a signed-in session, so this user counts as signed out. It received ' +
          (typeof userId === 'number'
            ? 'the id as a number, and then as a string. The user may have been deleted. If you delete users, call ' +
              'limiter.eraseUser(id).'
            : /^\d+$/.test(userId)
              ? 'a string of digits. If your ids are numbers, convert it: findById: (id) => users.get(Number(id)).'
              : 'a string. Compare it with the ids of your users as it is.'),
      )
    }
    return byText
  }
}
