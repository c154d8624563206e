import type { HostUsers, SiteOption, UserId } from 'sessmgr'
import type { RoleLimits } from './limits-option.ts'

/** What is needed to find a user's limits. */
export interface OwnLimitsParts<User> {
  readonly option: SiteOption<RoleLimits>
  readonly users: HostUsers<User>
  rolesOf(user: User): readonly string[] | Promise<readonly string[]>
  isLicensed(): Promise<boolean>
}

/** Finds a user's limits. A limit is undefined if it is not set, or if there is no license. */
export interface OwnLimits {
  /** Returns the highest limit of the user's roles. */
  ofRoles(userId: UserId): Promise<number | undefined>
  /** Returns the limit set for the user's login name. */
  ofUser(userId: UserId): Promise<number | undefined>
}

/** Creates the lookup of limits. */
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
