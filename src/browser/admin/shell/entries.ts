import { type ComponentType, createContext } from 'react'

/** A tab of the screen. */
export interface TabEntry {
  /** Stable id, and the last part of the tab's URL. An entry replaces another one with the same key. */
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
