import type { HostUsers } from './host.ts'

/**
 * Finds a user by whatever an administrator typed: with an `@` it is an e-mail address, all digits an id, else a login
 * name, and then an id, for hosts whose ids are text. Blanks around it do not count.
 */
export async function resolveUser<User>(users: HostUsers<User>, identifier: string): Promise<User | undefined> {
  const name = identifier.trim()
  if (name === '') return undefined
  if (name.includes('@')) return (await users.findByEmail(name)) ?? undefined
  if (/^\d+$/.test(name)) return userById(users, name)
  return (await users.findByLogin(name)) ?? (await userById(users, name))
}

/** Many a host makes a number of the text it looks for, and so finds user 1 by "0x1", "1e0" or "1.0". */
async function userById<User>(users: HostUsers<User>, id: string): Promise<User | undefined> {
  const user = (await users.findById(id)) ?? undefined
  if (user === undefined) return undefined
  return String(users.summary(user).id).toLowerCase() === id.toLowerCase() ? user : undefined
}
