import { SessmgrError } from '../ground/errors.ts'
import { inWords, requireBoolean, requireOptions } from '../ground/option-checks.ts'
import { isUserId, type UserId } from '../ground/user-id.ts'
import type { Hooks } from './hooks.ts'

const DAY_S = 24 * 60 * 60

/** Options of `limiter.sessionLife()`. */
export interface SessionLifeOptions {
  /** Whether the user has asked to stay signed in: 14 days instead of 2. @default false */
  readonly remember?: boolean
}

/** Returns how many milliseconds the session of a login may last; see `limiter.sessionLife()`. */
type SessionLife = (user: unknown, options?: SessionLifeOptions) => Promise<number>

/**
 * Creates `limiter.sessionLife()`.
 *
 * @param userIdOf Reads the id of a user object.
 */
export function createSessionLife(hooks: Hooks, userIdOf: (user: unknown) => UserId): SessionLife {
  return async (user, options = {}) => {
    requireOptions('sessionLife', options, ['remember'])
    const { remember = false } = options
    requireBoolean('remember', remember)
    if (user === undefined || user === null) throw noUser()
    const userId = isUserId(user) ? user : userIdOf(user)
    const days = remember ? 14 : 2
    const seconds: unknown = await hooks.applyFilters('auth_cookie_expiration', days * DAY_S, userId, remember)
    const life = typeof seconds === 'number' ? Math.round(seconds * 1000) : Number.NaN
    // Browsers and stores need a valid expiry date.
    if (Number.isFinite(new Date(Date.now() + life).getTime())) return life
    const found = `it returned ${inWords(seconds)}`
    throw new SessmgrError(
      'hook_failed',
      `The "auth_cookie_expiration" filter must return a number of seconds; ${found}.`,
    )
  }
}

function noUser(): SessmgrError {
  const message = 'The user is missing. Pass the user who signs in: limiter.sessionLife(user, { remember }).'
  return new SessmgrError('user_id_missing', message)
}
