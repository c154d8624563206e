import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../clock.ts'
import type { SessmgrStore } from '../store.ts'
import { MemoryLogoutEpoch } from './memory-logout-epoch.ts'
import { MemoryOptionStore } from './memory-option-store.ts'
import { MemorySessionRegistry } from './memory-session-registry.ts'

/** Remembers everything in this process, and nothing after it: for one process, development and tests. */
export function memoryStore({ clock = systemClock }: { clock?: Clock } = {}): SessmgrStore {
  return {
    id: `memory:${randomUUID()}`,
    sessions: new MemorySessionRegistry(clock),
    epoch: new MemoryLogoutEpoch(clock),
    options: new MemoryOptionStore(),
    close: async () => {},
  }
}
