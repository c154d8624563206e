import { createHooks } from '../../src/hooks/hooks.ts'
import { createSettings } from '../../src/options/session-settings.ts'
import type { SessionSettings } from '../../src/options/setting-rules.ts'
import { memoryStore } from '../../src/stores/memory-store.ts'
import { createLogicModes } from '../../src/strategies/logic-catalogue.ts'
import { BUILT_IN_LOGICS } from './whole-settings.ts'

/** Creates the settings service of one process, on a store that processes may share. */
export function createService(
  initial: Partial<SessionSettings> = {},
  logics: readonly string[] = BUILT_IN_LOGICS,
  { options } = memoryStore(),
) {
  const hooks = createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 1000 })
  const modes = createLogicModes(hooks)
  const catalogue = async () => Object.keys(await modes.catalogue())
  const settings = createSettings({ options, hooks, initial, deadlineMs: 1000, logics, catalogue })
  return { options, hooks, settings }
}
