import { vars } from '../screen.ts'
import type { TextKey, Translate } from '../texts/use-texts.ts'

const NAMES: Readonly<Record<string, TextKey>> = {
  'sessmgr_settings.maximum': 'maximum',
  'sessmgr_settings.logic': 'logic',
  'sessmgr_settings.idle_release': 'idle',
  'sessmgr_settings.max_age': 'max_age',
  'sessmgr_settings.enforce': 'enforce',
  'lazycomments_settings.load_method': 'c_method',
  'lazycomments_settings.minimum_count': 'c_minimum',
  'lazycomments_settings.show_loader': 'c_loader',
  'lazycomments_settings.disable_for_bots': 'c_bots',
  'lazycomments_settings.button_text': 'c_text',
  'lazycomments_settings.button_style': 'c_style',
  'lazycomments_settings.button_class': 'c_class',
  'lazycomments_settings.cache_enabled': 'c_cache_on',
}

const VALUES: Readonly<Record<string, TextKey>> = {
  'lazycomments_settings.load_method.scroll': 'c_scroll',
  'lazycomments_settings.load_method.idle': 'c_idle',
  'lazycomments_settings.load_method.click': 'c_click',
  'lazycomments_settings.load_method.off': 'c_off',
  'lazycomments_settings.button_style.theme': 'c_theme',
  'lazycomments_settings.button_style.custom': 'c_custom',
}

/** Converts seconds to whole minutes. Returns invalid input unchanged. */
export function minutesOf(seconds: unknown): unknown {
  return typeof seconds === 'number' ? Math.round(seconds / 60) : seconds
}

/** Returns the display name of an option's key, or else its path. */
export function nameOfKey(t: Translate, option: string, key: string): string {
  const path = [option, key].filter(Boolean).join('.')
  const name = NAMES[path]
  return name ? t(name) : path
}

/** Returns the display text of an option's value. */
export function nameOfValue(t: Translate, option: string, key: string, value: unknown): string {
  if (value === undefined) return '–'
  const text = VALUES[`${option}.${key}.${value}`]
  if (text) return t(text)
  if (option === 'sessmgr_settings' && key === 'logic') return vars.logics[String(value)]?.label ?? String(value)
  if (option === 'sessmgr_settings' && (key === 'idle_release' || key === 'max_age')) return String(minutesOf(value))
  if (typeof value === 'boolean') return t(value ? 'on' : 'off')
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}
