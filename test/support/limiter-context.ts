import { Erasures } from '../../src/auth/erasures.ts'
import { createHooks } from '../../src/hooks/hooks.ts'
import type { AnnouncedAction } from '../../src/limiter/activity-log.ts'
import { createEndedNotes } from '../../src/limiter/ended-notes.ts'
import { createFacts } from '../../src/limiter/facts.ts'
import type { LimiterContext } from '../../src/limiter/limiter-context.ts'
import { createSettings } from '../../src/options/session-settings.ts'
import { BUILT_IN_LOGICS, type CodeSettings } from '../../src/options/setting-rules.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { createLogicModes } from '../../src/strategies/logic-catalogue.ts'
import { SimpleHost } from './limiter-world.ts'

/** Creates the internals of a limiter with a real store, for use cases that are called one by one. */
export function createLimiterContext(initial: CodeSettings = {}) {
  const store = memoryStore()
  const host = new SimpleHost()
  const logger = { warn() {}, error() {} }
  const hooks = createHooks({ logger, deadlineMs: 1000 })
  const announced: AnnouncedAction[] = []
  const erasures = new Erasures(store)
  const facts = createFacts({ store, hooks, logger, deadlineMs: 1000, erasures, countOf: async () => 0 })
  const context: LimiterContext = {
    store,
    hooks,
    settings: createSettings({
      options: store.options,
      hooks,
      logger,
      initial,
      logics: BUILT_IN_LOGICS,
      catalogue: async () => [],
    }),
    modes: createLogicModes(hooks),
    hostSessions: host,
    logger,
    labels: undefined,
    notes: createEndedNotes({ store, logger, deadlineMs: 1000, endedMemoryMs: 60_000 }),
    facts: { ...facts, report: (actions) => void announced.push(...actions) },
    erasures,
    touchEveryMs: 60_000,
    noteDevice() {},
    discard: async (sessions) => {
      for (const { sessionId } of sessions) await host.destroy(sessionId)
    },
  }

  /** Registers a session of a user without any limit. Returns its raw id. */
  async function register(userId: string | number, generation = 0): Promise<string> {
    const { sessionId, ttlMs } = host.establish()
    const { version } = await store.sessions.read(userId)
    const admit = { sessionId, ttlMs, ip: null, userAgent: null, device: null, generation }
    await store.sessions.commit(userId, version, { admit, end: [] })
    return sessionId
  }
  return { context, store, host, hooks, announced, register }
}
