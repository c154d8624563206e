import type { ReactNode } from 'react'
import type { PanelEntry, TabEntry } from '../shell/entries.ts'

/** Filters of the screen: the value that each passes through. */
export interface ScreenFilters {
  /**
   * Every tab, the built-in ones first.
   *
   * @since 3.0.1
   */
  'sessmgr.admin.tabs': readonly TabEntry[]
  /**
   * Panels that add-ons put on the Settings tab.
   *
   * @since 3.0.0
   */
  'sessmgr.settings.panels': readonly PanelEntry[]
  /**
   * What stands at the end of the panel Force Logout. `null` hides it; anything that React cannot show means the default.
   *
   * @since 3.0.1
   */
  'sessmgr.settings.force_logout.cross_sell': ReactNode | undefined
  /**
   * Every text of the screen, by key.
   *
   * @since 3.3.0
   */
  'sessmgr.admin.i18n': Readonly<Record<string, string>>
}

/** Actions of the screen: what happened. */
export interface ScreenActions {
  /**
   * Options have been saved; the names of those that were edited.
   *
   * @since 3.3.0
   */
  'sessmgr.admin.saved': [names: readonly string[]]
}

/** Every hook of the screen. What add-ons offer each other starts with `addon.`. */
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
