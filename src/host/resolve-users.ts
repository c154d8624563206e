import type { HostUsers } from './host.ts'

/** What an identifier may be. */
export type IdentifierKind = 'id' | 'login' | 'email'

/**
 * Finds the users that an administrator may mean by what they typed: digits are an id, with an `@` it is an e-mail
 * address, and anything else is asked for as a login name and as an id. Blanks around it do not count.
 *
 * @param kind What it is, where the administrator says so.
 * @returns Two users when a login name is also the id of somebody else.
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

/** Applications with numeric ids may compare them as numbers alone. */
async function userByNumber(users: HostUsers, id: string): Promise<unknown> {
  if (!Number.isSafeInteger(Number(id)) || String(Number(id)) !== id) return undefined
  try {
    return await confirmed(users, id, await users.findById(Number(id)))
  } catch (error) {
    // Where ids are strings, a method of strings was called.
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Many an application converts the string to a number, and so finds user 1 by "0x1", "1e0" or "1.0". */
function confirmed(users: HostUsers, id: string, user: unknown): unknown {
  if (user === undefined || user === null) return undefined
  return String(users.summary(user).id).toLowerCase() === id.toLowerCase() ? user : undefined
}
