import type { UserId } from '../../ground/user-id.ts'
import type { HostUsers } from '../../host/host.ts'
import { resolveUsers } from '../../host/resolve-users.ts'

/**
 * Returns the ids that an administrator may have meant. Users who no longer exist are found by their id, which may have
 * been a number or a string.
 */
export async function findUserIds(users: HostUsers, identifier: string): Promise<readonly UserId[]> {
  const found = await resolveUsers(users, identifier)
  if (found.length > 0) return found.map((user) => users.summary(user).id)
  const name = identifier.trim()
  const isNumber = Number.isSafeInteger(Number(name)) && String(Number(name)) === name
  return isNumber ? [name, Number(name)] : [name]
}
