import { type ComponentType, createContext } from 'react'

/** A tab of the screen. */
export interface TabEntry {
  /** Stable id, and the last part of the tab's address. An entry with the key of another one replaces it. */
  readonly key: string
  readonly label: string
  readonly component: ComponentType
  /** Whether the tab takes the full width. @default false */
  readonly wide?: boolean | undefined
  /** Key of the tab to stand before. */
  readonly before?: string | undefined
  /** Key of the tab to stand after. Ignored when `before` is given. */
  readonly after?: string | undefined
}

/** The tabs of the screen, for what is drawn on one of them. */
export const ScreenTabs = createContext<readonly TabEntry[]>([])

/** A panel that an add-on puts on the Settings tab. */
export interface PanelEntry {
  /** Stable id. A later entry with the same id replaces the earlier one; an entry without one is dropped. */
  readonly id: string
  readonly Component: ComponentType
}

/** Tells whether React can draw a value as a component: a function, or what `memo` and its like return. */
export function isComponent(value: unknown): value is ComponentType {
  return typeof value === 'function' || (typeof value === 'object' && value !== null && '$$typeof' in value)
}
