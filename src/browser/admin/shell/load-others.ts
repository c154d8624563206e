import { type ComponentType, lazy } from 'react'
import { queries } from '../screen.ts'

/** When a busy page is not waited for any longer. */
const IDLE_TIMEOUT_MS = 5_000

const loads = {
  settings: async () => (await import('../settings/settings-tab.tsx')).SettingsTab,
  comments: async () => (await import('../comments/comments-tab.tsx')).CommentsTab,
  addons: async () => (await import('../addons/addons-tab.tsx')).AddonsTab,
  support: async () => (await import('../support/support-tab.tsx')).SupportTab,
} as const satisfies Record<string, () => Promise<ComponentType>>

const late = (load: () => Promise<ComponentType>) => lazy(async () => ({ default: await load() }))

/** The built-in tabs whose code is loaded when they are opened, by key. */
export const LATE_TABS: Readonly<Record<keyof typeof loads, ComponentType>> = {
  settings: late(loads.settings),
  comments: late(loads.comments),
  addons: late(loads.addons),
  support: late(loads.support),
}

/** Loads the code of a tab. Resolves also if that fails, because the tab then says so. */
export async function loadTab(key: string): Promise<void> {
  const load: Promise<unknown> | undefined = Object.hasOwn(loads, key) ? loads[key as keyof typeof loads]() : undefined
  await load?.catch(() => {})
}

/**
 * Loads the code of all tabs, so that they open at once, and also after an update of the server. Waits until the open
 * tab has its data and the browser is idle.
 *
 * @param first Responses that the page is waiting for.
 */
export async function loadOtherTabs(first: readonly Promise<unknown>[]): Promise<void> {
  await Promise.all(first)
  await idle()
  await nothingIsRead()
  for (const key of Object.keys(loads)) {
    await idle()
    await loadTab(key)
  }
}

function nothingIsRead(): Promise<void> {
  return new Promise((resolve) => {
    const stop = queries.getQueryCache().subscribe(look)
    look()
    function look(): void {
      if (queries.isFetching() > 0) return
      stop()
      resolve()
    }
  })
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no such function.
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: IDLE_TIMEOUT_MS })
    else setTimeout(resolve)
  })
}
