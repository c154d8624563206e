import { memoryStore } from '../../src/index.ts'
import { type Host, type HostOptions, startHost } from './start-host.ts'
import { TestStore } from './test-store.ts'

/**
 * Starts the application several times on one registry and one set of sessions.
 *
 * As with real processes, each has its own store objects and its own queue of logins: only the registry keeps the limit.
 */
export async function startProcesses(count: number, options: HostOptions = {}): Promise<readonly Host[]> {
  const store = new TestStore()
  const registry = memoryStore()
  const hosts: Host[] = []
  for (let process = 0; process < count; process++) {
    hosts.push(await startHost({ ...options, store: store.twin(), sessmgr: { ...options.sessmgr, store: registry } }))
  }
  return hosts
}
