import { type Logger, logError, safeLogger } from '../ground/logger.ts'
import { createHookBus, type HookBus } from './bus.ts'
import { type CommentActions, type CommentFilters, commentHooks } from './comment-hooks.ts'
import type { HookEntry } from './hook-types.ts'
import { type SessionActions, type SessionFilters, sessionHooks } from './session-hooks.ts'

/** The bus that carries every hook of the package. */
export type Hooks = HookBus<SessionActions & CommentActions, SessionFilters & CommentFilters>

/** Every hook of the package, as data. */
export const hookCatalogue: {
  /** What fires, by name. */
  readonly actions: Readonly<Record<keyof SessionActions | keyof CommentActions, HookEntry>>
  /** What may be changed, by name; `{name}` in one stands for the name of an option. */
  readonly filters: Readonly<Record<keyof SessionFilters | keyof CommentFilters, HookEntry>>
} = {
  actions: { ...sessionHooks.actions, ...commentHooks.actions },
  filters: { ...sessionHooks.filters, ...commentHooks.filters },
}

/** Creates the bus that carries every hook of the package. */
export function createHooks(options: { logger: Logger; deadlineMs: number }): Hooks {
  const logger = safeLogger(options.logger)
  return createHookBus({
    catalogue: hookCatalogue,
    deadlineMs: options.deadlineMs,
    onError: (error) => logError(logger, error),
  })
}
