import type { Hooks } from '../hooks/hooks.ts'
import type { LogicCatalogue } from '../hooks/session-hooks.ts'
import { allow } from './allow.ts'
import { block } from './block.ts'
import type { LimitStrategy } from './limit-strategy.ts'
import { logoutOldest } from './logout-oldest.ts'

/** Finds the mode for a stored value, and what people read of each. */
export interface LogicModes {
  /** Finds the strategy of a stored value; `allow` for a value that no strategy has. */
  strategyOf(logic: string): LimitStrategy
  /**
   * Lists every mode with its texts, through the filter `sessmgr_logics`.
   *
   * @throws SessmgrError `hook_failed`, `hook_timeout`.
   */
  catalogue(): Promise<LogicCatalogue>
}

/** Collects the built-in modes and those an application adds; a later one with the same id replaces the earlier. */
export function createLogicModes(hooks: Hooks, added: readonly LimitStrategy[] = []): LogicModes {
  const strategies = new Map([logoutOldest, allow, block, ...added].map((strategy) => [strategy.id, strategy]))
  return {
    strategyOf: (logic) => strategies.get(logic) ?? strategies.get('allow') ?? allow,
    catalogue: () => {
      const texts = [...strategies.values()].map(({ id, label, desc }) => [id, { label, desc }] as const)
      return hooks.applyFilters('sessmgr_logics', Object.fromEntries(texts))
    },
  }
}
