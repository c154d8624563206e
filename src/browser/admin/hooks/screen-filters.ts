import type { ReactNode } from 'react'
import type { PanelEntry, TabEntry } from '../shell/entries.ts'

/** Filters of the screen, by the type of value they pass on. */
export interface ScreenFilters {
  /**
   * All tabs, the built-in ones first.
   *
   * @since 3.0.1
   */
  'sessmgr.admin.tabs': readonly TabEntry[]
  /**
   * Add-on panels on the Settings tab.
   *
   * @since 3.0.0
   */
  'sessmgr.settings.panels': readonly PanelEntry[]
  /**
   * Content at the end of the Force Logout panel. `null` hides it; anything that React cannot render shows the default.
   *
   * @since 3.0.1
   */
  'sessmgr.settings.force_logout.cross_sell': ReactNode | undefined
  /**
   * All texts of the screen, by key.
   *
   * @since 3.3.0
   */
  'sessmgr.admin.i18n': Readonly<Record<string, string>>
}

/** Actions of the screen. */
export interface ScreenActions {
  /**
   * Fires after options were saved, with the names of the edited options.
   *
   * @since 3.3.0
   */
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
