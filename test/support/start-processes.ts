import { memoryStore } from '../../src/index.ts'
import { type ExpressHost, type ExpressSetup, startExpressHost } from './express-host.ts'
import { TestStore } from './test-store.ts'

/**
 * Starts the application several times on one registry and one set of sessions.
 *
 * As with real processes, each has its own store objects and its own queue of logins, so only the registry enforces the
 * limit.
 */
export async function startProcesses(count: number, options: ExpressSetup = {}): Promise<readonly ExpressHost[]> {
  const store = new TestStore()
  const registry = memoryStore()
  const hosts: ExpressHost[] = []
  for (let process = 0; process < count; process++) {
    hosts.push(
      await startExpressHost({ ...options, store: store.twin(), sessmgr: { ...options.sessmgr, store: registry } }),
    )
  }
  return hosts
}
