import type { HostUsers, SiteOption, UserId } from 'sessmgr'
import type { RoleLimits } from './limits-option.ts'

/** What the limits of a user are found by. */
export interface OwnLimitsParts<User> {
  readonly option: SiteOption<RoleLimits>
  readonly users: HostUsers<User>
  rolesOf(user: User): readonly string[] | Promise<readonly string[]>
  isLicensed(): Promise<boolean>
}

/** Finds the limit that is a user's own; undefined where there is none, or no licence. */
export interface OwnLimits {
  /** By the user's roles: the highest one. */
  ofRoles(userId: UserId): Promise<number | undefined>
  /** By the user's login name. */
  ofUser(userId: UserId): Promise<number | undefined>
}

/** Creates what finds the limits. */
export function createOwnLimits<User>({ option, users, rolesOf, isLicensed }: OwnLimitsParts<User>): OwnLimits {
  async function limitsOf(group: keyof RoleLimits, userId: UserId, namesOf: (user: User) => Names) {
    const limits = Object.entries((await option.get())[group])
    if (limits.length === 0 || !(await isLicensed())) return undefined
    const user = await users.findById(String(userId))
    if (user === undefined || user === null) return undefined
    const names = await namesOf(user)
    const own = limits.filter(([name]) => names.includes(group === 'users' ? name.toLowerCase() : name))
    return own.length > 0 ? Math.max(...own.map(([, limit]) => limit)) : undefined
  }

  return {
    ofRoles: (userId) => limitsOf('roles', userId, rolesOf),
    ofUser: (userId) => limitsOf('users', userId, (user) => [users.summary(user).login.toLowerCase()]),
  }
}

type Names = readonly string[] | Promise<readonly string[]>
