import { type Addons, createAddons } from '../../../src/features/addons/addons.ts'
import { createHooks, type Hooks } from '../../../src/hooks/hooks.ts'
import { memoryStore, type SessmgrStore } from '../../../src/index.ts'
import type { LicensingProvider } from '../../../src/licensing.ts'
import { type FakeClock, fakeClock } from '../../../src/testing.ts'

/** The add-ons of one process. */
export interface AddonsHost {
  readonly addons: Addons
  readonly hooks: Hooks
  readonly store: SessmgrStore
  readonly clock: FakeClock
  readonly logs: unknown[][]
}

/** How they are put together. */
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
export function createAddonsHost(options: AddonsHostOptions): AddonsHost {
  const { provider, clock = fakeClock(), secrets = [], registered = [1001, 1002, 1003] } = options
  const store = options.store ?? memoryStore({ clock })
  const logs: unknown[][] = []
  const note = (...line: unknown[]) => void logs.push(line)
  const logger = { warn: note, error: note }
  const hooks = createHooks({ logger, deadlineMs: 500 })
  const site = { url: options.url ?? 'https://shop.example.test', title: 'Shop' }
  const { options: kept, transients } = store
  const addons = createAddons({ provider, hooks, options: kept, transients, secrets, site, clock, logger })
  hooks.addFilter('sessmgr_register_addon', 'test', (addons) => ({
    ...addons,
    ...Object.fromEntries(
      registered.map((id) => [
        id,
        { slug: `addon-${id}`, is_premium: id !== 1003, main_file: 'index.js', public_key: `pk_${id}` },
      ]),
    ),
  }))
  return { addons, hooks, store, clock, logs }
}
