import { type Logger, logError, safeLogger } from '../ground/logger.ts'
import { createHookBus, type HookBus, type HookEntry } from './bus.ts'
import { type CommentActions, type CommentFilters, commentHooks } from './comment-hooks.ts'
import { type SessionActions, type SessionFilters, sessionHooks } from './session-hooks.ts'

/** The bus of all sessmgr hooks. */
export type Hooks = HookBus<SessionActions & CommentActions, SessionFilters & CommentFilters>

/** The catalogue of all sessmgr hooks. */
export const hookCatalogue: {
  /** Actions by name. */
  readonly actions: Readonly<Record<keyof SessionActions | keyof CommentActions, HookEntry>>
  /** Filters by name. In them, `{name}` is a placeholder for the name of an option. */
  readonly filters: Readonly<Record<keyof SessionFilters | keyof CommentFilters, HookEntry>>
} = {
  actions: { ...sessionHooks.actions, ...commentHooks.actions },
  filters: { ...sessionHooks.filters, ...commentHooks.filters },
}

/** Creates the bus of all sessmgr hooks. */
export function createHooks(options: { logger: Logger; deadlineMs: number }): Hooks {
  const logger = safeLogger(options.logger)
  return createHookBus({
    catalogue: hookCatalogue,
    deadlineMs: options.deadlineMs,
    onError: (error) => logError(logger, error),
  })
}
