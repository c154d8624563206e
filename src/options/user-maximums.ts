import { SessmgrError } from '../ground/errors.ts'
import { inWords } from '../ground/option-checks.ts'
import type { UserId } from '../ground/user-id.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { A_MAXIMUM, type CodeSettings, isMaximum, type SessionSettings } from './setting-rules.ts'

/** Returns how many sessions one user may have. */
export interface UserMaximums {
  /** The `maximum` that settings show if the application passes a function or nothing: 1. */
  readonly siteWide: number
  /** Marks settings whose maximum comes from one of the application's functions. */
  mark(settings: SessionSettings): SessionSettings
  /** Copies the mark from one settings object to another that is derived from it. */
  carryMark(from: SessionSettings, to: SessionSettings): SessionSettings
  /** Returns a user's maximum, passed through the filter `sessmgr_maximum`. */
  of(userId: UserId, settings: SessionSettings): Promise<number>
}

/** Creates the lookup of maximums. A function passed as `maximum` becomes the first subscriber of the filter. */
export function userMaximums({ hooks, initial }: { hooks: Hooks; initial: CodeSettings }): UserMaximums {
  const { maximum = 1 } = initial
  const perUser = new WeakSet<SessionSettings>()
  const ask = typeof maximum === 'function' ? maximum : undefined
  if (ask) {
    const answer = async (given: number, userId: UserId) => (Number.isNaN(given) ? checked(await ask(userId)) : given)
    hooks.addFilter('sessmgr_maximum', 'settings.maximum', answer, Number.MIN_SAFE_INTEGER)
  }

  function mark(settings: SessionSettings): SessionSettings {
    if (ask) perUser.add(settings)
    return settings
  }

  return {
    siteWide: typeof maximum === 'function' ? 1 : maximum,
    mark,
    carryMark: (from, to) => (perUser.has(from) ? mark(to) : to),
    async of(userId, settings) {
      // Not a number yet: the application's function, the first subscriber, replaces it.
      const start = perUser.has(settings) ? Number.NaN : settings.maximum
      const found: unknown = await hooks.applyFilters('sessmgr_maximum', start, userId)
      if (isMaximum(found)) return found
      throw new SessmgrError('hook_failed', `The filter "sessmgr_maximum" must return ${A_MAXIMUM}.`)
    },
  }
}

function checked(maximum: unknown): number {
  if (isMaximum(maximum)) return maximum
  throw new Error(`it must return ${A_MAXIMUM}; it returned ${inWords(maximum)}`)
}
