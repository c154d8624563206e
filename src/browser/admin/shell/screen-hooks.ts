import type { ReactNode } from 'react'
import { type Hook, hookFinder, type Subscriber } from '../../../hooks/bus.ts'
import type { PanelEntry, TabEntry } from './entries.ts'
import { createChanges } from './signal.ts'

/** Filters of the screen, with the type of each value. */
export interface ScreenFilters {
  /** All tabs, the built-in ones first. */
  'sessmgr.admin.tabs': readonly TabEntry[]
  /** Add-on panels on the Settings tab. */
  'sessmgr.settings.panels': readonly PanelEntry[]
  /** Content at the end of the Force Logout panel. `null` hides it; anything but elements and text shows the default. */
  'sessmgr.settings.force_logout.cross_sell': ReactNode | undefined
  /** The texts of the screen by key. Applied again when a tab adds its own. */
  'sessmgr.admin.i18n': Readonly<Record<string, string>>
}

/** Actions of the screen. */
export interface ScreenActions {
  /** Fires after options were saved, with the names of the edited options. */
  'sessmgr.admin.saved': [names: readonly string[]]
}

/** All hooks of the screen. Add-on hooks start with `addon.`. */
export const SCREEN_HOOKS = {
  filters: [
    'sessmgr.admin.tabs',
    'sessmgr.settings.panels',
    'sessmgr.settings.force_logout.cross_sell',
    'sessmgr.admin.i18n',
    'addon.{name}',
  ],
  actions: ['sessmgr.admin.saved', 'addon.{name}'],
} as const

type FilterName = keyof ScreenFilters | `addon.${string}`
type ActionName = keyof ScreenActions | `addon.${string}`
type FilterValue<K> = K extends keyof ScreenFilters ? ScreenFilters[K] : unknown
type ActionParameters<K> = K extends keyof ScreenActions ? ScreenActions[K] : unknown[]

/** An add-on whose subscriber failed. */
interface HookProblem {
  readonly namespace: string
  readonly hook: string
  readonly reason: string
}

/**
 * Lets add-ons change the screen. Names, priorities and namespaces work as on the server. All subscribers run
 * synchronously.
 */
export interface ScreenHooks {
  /** Subscribes to a filter, re-renders the screen, and returns a function that removes the subscriber. */
  addFilter<K extends FilterName>(
    name: K,
    namespace: string,
    callback: (value: FilterValue<K>, ...parameters: unknown[]) => FilterValue<K>,
    priority?: number,
  ): () => void
  /** Removes all subscribers of a namespace from a filter, and returns how many there were. */
  removeFilter(name: FilterName, namespace: string): number
  hasFilter(name: FilterName, namespace?: string): boolean
  /** Returns how many times a filter has been applied. */
  didFilter(name: FilterName): number
  /**
   * Passes a value through a filter. A subscriber that throws or returns undefined is skipped and reported on the
   * screen.
   */
  applyFilters<K extends FilterName>(name: K, value: FilterValue<K>, ...parameters: unknown[]): FilterValue<K>
  /** Subscribes to an action and returns a function that removes the subscriber. */
  addAction<K extends ActionName>(
    name: K,
    namespace: string,
    callback: (...parameters: ActionParameters<K>) => unknown,
    priority?: number,
  ): () => void
  removeAction(name: ActionName, namespace: string): number
  hasAction(name: ActionName, namespace?: string): boolean
  didAction(name: ActionName): number
  /** Fires an action. If a subscriber fails, the screen shows its error and the next subscriber runs. */
  doAction<K extends ActionName>(name: K, ...parameters: ActionParameters<K>): void
}

/** Notifies the screen, which re-renders after each change. */
interface HookChanges {
  subscribe(listener: () => void): () => void
  /** A number that changes whenever a subscriber is added or removed. */
  version(): number
  problems(): readonly HookProblem[]
}

/** Creates the hooks of the screen. */
export function createScreenHooks(): { hooks: ScreenHooks; changes: HookChanges } {
  // The server's error class would be a kilobyte more to load.
  const filter = hookFinder('filter', SCREEN_HOOKS.filters, Error)
  const action = hookFinder('action', SCREEN_HOOKS.actions, Error)
  const { tell, subscribe } = createChanges()
  let version = 0
  let problems: readonly HookProblem[] = []

  function changed(): void {
    version += 1
    tell()
  }

  function add(hook: Hook, subscriber: Subscriber): () => void {
    const remove = hook.add(subscriber)
    changed()
    return () => {
      remove()
      changed()
    }
  }

  function remove(hook: Hook, namespace: string): number {
    const count = hook.remove(namespace)
    if (count > 0) changed()
    return count
  }

  function note(namespace: string, hook: string, error: unknown): void {
    if (problems.some((known) => known.namespace === namespace && known.hook === hook)) return
    problems = [...problems, { namespace, hook, reason: reasonOf(error) }]
    console.error(`The add-on "${namespace}" failed in "${hook}".`, error)
    // Filters run during rendering, when no other render may start.
    queueMicrotask(changed)
  }

  const hooks: ScreenHooks = {
    addFilter: (name, namespace, callback, priority = 10) => add(filter(name), { namespace, callback, priority }),
    removeFilter: (name, namespace) => remove(filter(name), namespace),
    hasFilter: (name, namespace) => filter(name).has(namespace),
    didFilter: (name) => filter(name).runs,
    applyFilters(name, value, ...parameters) {
      const hook = filter(name)
      hook.runs += 1
      let current: unknown = value
      for (const { namespace, callback } of hook.subscribers) {
        // Copy the list, because a subscriber may change it before it fails.
        const before = Array.isArray(current) ? [...current] : current
        try {
          const result = callback(current, ...parameters)
          if (result === undefined && current !== undefined) throw new Error('It returned nothing.')
          current = result
        } catch (error) {
          current = before
          note(namespace, name, error)
        }
      }
      return current as typeof value
    },
    addAction: (name, namespace, callback, priority = 10) =>
      add(action(name), { namespace, callback: callback as (...parameters: unknown[]) => unknown, priority }),
    removeAction: (name, namespace) => remove(action(name), namespace),
    hasAction: (name, namespace) => action(name).has(namespace),
    didAction: (name) => action(name).runs,
    doAction(name, ...parameters) {
      const hook = action(name)
      hook.runs += 1
      for (const { namespace, callback } of hook.subscribers) {
        try {
          callback(...parameters)
        } catch (error) {
          note(namespace, name, error)
        }
      }
    },
  }
  return { hooks, changes: { subscribe, version: () => version, problems: () => problems } }
}

/** Describes a thrown value, even if it cannot be converted to a string. */
export function reasonOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return typeof thrown
  }
}
