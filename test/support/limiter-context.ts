import { Erasures } from '../../src/auth/erasures.ts'
import { createHooks } from '../../src/hooks/hooks.ts'
import { createEndedNotes } from '../../src/limiter/ending/ended-notes.ts'
import { createEvents } from '../../src/limiter/events.ts'
import type { LimiterContext } from '../../src/limiter/limiter-context.ts'
import { createSettings } from '../../src/options/session-settings.ts'
import type { CodeSettings } from '../../src/options/setting-rules.ts'
import { memoryStore } from '../../src/stores/memory-store.ts'
import { createLogicModes } from '../../src/strategies/logic-catalogue.ts'
import { SimpleHost } from './limiter-world.ts'
import { BUILT_IN_LOGICS } from './whole-settings.ts'

/** Creates the internals of a limiter with a real store, for use cases that are called one by one. */
export function createLimiterContext(initial: CodeSettings = {}) {
  const store = memoryStore()
  const host = new SimpleHost()
  const logger = { warn() {}, error() {} }
  const hooks = createHooks({ logger, deadlineMs: 1000 })
  const erasures = new Erasures(store)
  const notes = createEndedNotes({ store, logger, deadlineMs: 1000, endedMemoryMs: 60_000 })
  const outlets = { hostSessions: host, notes, erasures, countOf: async () => 0 }
  const context: LimiterContext = {
    store,
    hooks,
    settings: createSettings({
      options: store.options,
      hooks,
      initial,
      deadlineMs: 1000,
      logics: BUILT_IN_LOGICS,
      catalogue: async () => [],
    }),
    modes: createLogicModes(hooks),
    hostSessions: host,
    logger,
    labels: undefined,
    notes,
    events: createEvents({ store, hooks, logger, deadlineMs: 1000, ...outlets }),
    erasures,
    touchEveryMs: 60_000,
    outage: { at: Number.NEGATIVE_INFINITY, isOn: false },
    deadlineMs: 1000,
  }

  /** Registers a session of a user without any limit. Returns its raw id. */
  async function register(userId: string | number, generation = 0): Promise<string> {
    const { sessionId, ttlMs } = host.establish()
    const read = await store.sessions.read(userId)
    const admit = { sessionId, ttlMs, ip: null, userAgent: null, device: null, generation }
    await store.sessions.commit(userId, read, { admit, end: [] })
    return sessionId
  }
  return { context, store, host, hooks, register }
}
