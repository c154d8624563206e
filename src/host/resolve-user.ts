import type { HostUsers } from './host.ts'

/**
 * Finds a user by whatever an administrator typed: with an `@` it is an e-mail address, all digits an id, else a login
 * name, and then an id, for hosts whose ids are text. Blanks around it do not count.
 */
export async function resolveUser<User>(users: HostUsers<User>, identifier: string): Promise<User | undefined> {
  const name = identifier.trim()
  if (name === '') return undefined
  if (name.includes('@')) return users.findByEmail(name)
  if (/^\d+$/.test(name)) return users.findById(name)
  return (await users.findByLogin(name)) ?? (await users.findById(name))
}
