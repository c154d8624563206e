import { type ComponentType, createContext } from 'react'

/** A tab of the screen. */
export interface TabEntry {
  /** Stable id, and the last part of the tab's URL. A later entry replaces an earlier one with the same key. */
  readonly key: string
  readonly label: string
  readonly component: ComponentType
  /** Whether the tab takes the full width. @default false */
  readonly wide?: boolean | undefined
  /** Key of the tab before which this tab is placed. */
  readonly before?: string | undefined
  /** Key of the tab after which this tab is placed. Ignored if `before` is set. */
  readonly after?: string | undefined
}

/** The tabs of the screen, for components inside a tab. */
export const ScreenTabs = createContext<readonly TabEntry[]>([])

/** A panel of an add-on on the Settings tab. */
export interface PanelEntry {
  /** Stable id. A later entry replaces an earlier one with the same id. Entries without an id are dropped. */
  readonly id: string
  readonly Component: ComponentType
}

/** Checks whether React can render a value as a component: a function, or the result of `memo` and similar. */
export function isComponent(value: unknown): value is ComponentType {
  return typeof value === 'function' || (typeof value === 'object' && value !== null && '$$typeof' in value)
}

/**
 * Orders tabs: first the tabs without a position, then the others before or after the tab that they name, or at the
 * end. A later entry with the same key replaces an earlier one, in the same place unless the later one has a position.
 * Invalid entries are dropped.
 */
export function arrangeTabs(entries: unknown): readonly TabEntry[] {
  const byKey = new Map<string, TabEntry>()
  for (const entry of Array.isArray(entries) ? entries : []) if (isTab(entry)) byKey.set(entry.key, entry)
  const all = [...byKey.values()]
  const placed = all.filter((entry) => targetOf(entry) === undefined)
  let waiting = all.filter((entry) => targetOf(entry) !== undefined)
  // A tab may name another tab that has not been placed yet.
  for (let before = -1; waiting.length !== before; ) {
    before = waiting.length
    waiting = waiting.filter((entry) => !place(placed, entry))
  }
  return [...placed, ...waiting]
}

/** Removes a built-in tab without content, unless an add-on has replaced it or another tab refers to it. */
export function withoutIdle(tabs: readonly TabEntry[], idle: TabEntry | undefined): readonly TabEntry[] {
  const isNeeded = tabs.some((tab) => targetOf(tab) === idle?.key)
  return isNeeded ? tabs : tabs.filter(({ key, component }) => key !== idle?.key || component !== idle.component)
}

function place(placed: TabEntry[], entry: TabEntry): boolean {
  const index = placed.findIndex(({ key }) => key === targetOf(entry))
  if (index === -1) return false
  // Earlier entries with the same position come first.
  let at = entry.before ? index : index + 1
  while (!entry.before && placed[at]?.after === entry.after && !placed[at]?.before) at += 1
  placed.splice(at, 0, entry)
  return true
}

function targetOf({ before, after }: TabEntry): string | undefined {
  return before || after || undefined
}

function isTab(entry: unknown): entry is TabEntry {
  const { key, label, component } = (entry ?? {}) as Partial<TabEntry>
  return isText(key) && isText(label) && isComponent(component)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}
