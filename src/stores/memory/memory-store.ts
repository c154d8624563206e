import { type Clock, systemClock } from '../../ground/clock.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'
import type { SessmgrStore } from '../store.ts'
import { MemoryLogoutEpoch } from './memory-logout-epoch.ts'
import { MemoryOptionStore } from './memory-option-store.ts'
import { MemoryPasswordStore } from './memory-password-store.ts'
import { MemoryPeopleIndex } from './memory-people-index.ts'
import { MemorySessionRegistry } from './memory-session-registry.ts'
import { MemorySignals } from './memory-signals.ts'
import { MemoryTransientStore } from './memory-transient-store.ts'

/**
 * Creates a store in the memory of this process, for development, tests and single-process applications. All data is
 * lost when the process restarts.
 */
export function memoryStore({ clock = systemClock }: { clock?: Clock } = {}): SessmgrStore {
  const sessions = new MemorySessionRegistry(clock)
  const epoch = new MemoryLogoutEpoch(clock)
  const options = new MemoryOptionStore()
  const passwords = new MemoryPasswordStore()
  const transients = new MemoryTransientStore(clock)
  const people = new MemoryPeopleIndex()
  return {
    id: `memory:${nodeCrypto().randomUUID()}`,
    name: 'memory',
    local: true,
    sessions,
    epoch,
    options,
    passwords,
    transients,
    people,
    signals: new MemorySignals(),
    async wipe() {
      for (const part of [sessions, epoch, options, passwords, transients, people]) part.wipe()
    },
    close: async () => {},
  }
}
