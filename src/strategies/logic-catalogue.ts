import type { Hooks } from '../hooks/hooks.ts'
import type { LogicCatalogue } from '../hooks/session-hooks.ts'
import { allow } from './allow.ts'
import { ask } from './ask.ts'
import { block } from './block.ts'
import type { LimitStrategy } from './limit-strategy.ts'
import { logoutIdlest } from './logout-idlest.ts'
import { logoutOldest } from './logout-oldest.ts'

/** The built-in modes, in the order of the admin screen. */
export const BUILT_IN: readonly LimitStrategy[] = [logoutOldest, logoutIdlest, allow, block, ask]

/** Returns the stored values of the built-in modes, and of those that the application adds. */
export function modeIds(added: readonly LimitStrategy[]): readonly string[] {
  return [...BUILT_IN, ...added].map(({ id }) => id)
}

/** All modes, built-in and added. */
export interface LogicModes {
  /** Returns the mode for a stored value, or `allow` if there is no such mode. */
  strategyOf(logic: string): LimitStrategy
  /**
   * Returns the display texts of every mode, passed through the `sessmgr_logics` filter.
   *
   * @throws SessmgrError `hook_failed`, `hook_timeout`.
   */
  catalogue(): Promise<LogicCatalogue>
}

/** Combines the built-in modes with the application's. If two have the same id, the later one wins. */
export function createLogicModes(hooks: Hooks, added: readonly LimitStrategy[] = []): LogicModes {
  const strategies = new Map([...BUILT_IN, ...added].map((strategy) => [strategy.id, strategy]))
  return {
    strategyOf: (logic) => strategies.get(logic) ?? strategies.get('allow') ?? allow,
    catalogue: () => {
      const texts = [...strategies.values()].map(({ id, label, desc }) => [id, { label, desc }] as const)
      return hooks.applyFilters('sessmgr_logics', Object.fromEntries(texts))
    },
  }
}
