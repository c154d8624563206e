import { createAddons } from '../../../src/features/addons/addons.ts'
import { createHooks } from '../../../src/hooks/hooks.ts'
import { memoryStore, type SessmgrStore } from '../../../src/index.ts'
import type { LicensingProvider } from '../../../src/licensing.ts'
import { type FakeClock, fakeClock } from '../../../src/testing.ts'

/** How the add-ons of one process are put together. */
export interface AddonsHostOptions {
  readonly provider: LicensingProvider
  readonly store?: SessmgrStore
  readonly clock?: FakeClock
  readonly secrets?: readonly string[]
  readonly url?: string
  /** Add-ons that are installed. */
  readonly registered?: readonly number[]
}

/** Puts add-ons together over a memory store. */
export function createAddonsHost(options: AddonsHostOptions) {
  const { provider, clock = fakeClock(), secrets = [], registered = [1001, 1002, 1003] } = options
  const store = options.store ?? memoryStore({ clock })
  const logs: unknown[][] = []
  const note = (...line: unknown[]) => void logs.push(line)
  const logger = { warn: note, error: note }
  const hooks = createHooks({ logger, deadlineMs: 500 })
  const site = { url: options.url ?? 'https://shop.example.test', title: 'Shop' }
  const { options: kept, transients } = store
  const addons = createAddons({ provider, hooks, options: kept, transients, secrets, site, clock, logger })
  const rest = { main_file: 'index.js', public_key: 'pk' }
  const rows = registered.map((id) => [id, { slug: `addon-${id}`, is_premium: id !== 1003, ...rest }])
  hooks.addFilter('sessmgr_register_addon', 'test', (known) => ({ ...known, ...Object.fromEntries(rows) }))
  return { addons, hooks, store, clock, logs }
}
