import { useSyncExternalStore } from 'react'
import { hookChanges, hooks } from '../screen.ts'
import { SHELL_TEXTS } from './shell-texts.ts'
import type { TEXTS } from './texts.ts'

export type TextKey = keyof typeof TEXTS

/** Returns a text, with `values` in place of each `{name}`. */
export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string

/** The texts that are loaded: English, with the application's replacements. */
let loaded: Readonly<Record<string, string>> = {
  ...SHELL_TEXTS,
  ...JSON.parse(document.getElementById('sessmgr-texts')?.textContent ?? '{}'),
}

let known: { readonly version: number; readonly translate: Translate } | undefined

/** Adds the texts of a part of the screen. The part's own file calls this, so that they are loaded with it. */
export function addTexts(texts: Readonly<Record<string, string>>): void {
  loaded = { ...texts, ...loaded }
  known = undefined
}

/** Returns the function that looks up a text, after the `sessmgr.admin.i18n` filter. */
export function useTexts(): Translate {
  const version = useSyncExternalStore(hookChanges.subscribe, hookChanges.version)
  // The texts change only when a subscriber is added or removed, or a part of the screen is loaded.
  if (known?.version !== version) known = { version, translate: translateWith(currentTexts()) }
  return known.translate
}

/** Returns the texts after translation by add-ons. */
function currentTexts(): Readonly<Record<string, unknown>> {
  return hooks.applyFilters('sessmgr.admin.i18n', { ...loaded })
}

function translateWith(texts: Readonly<Record<string, unknown>>): Translate {
  return (key, values = {}) => {
    const text = texts?.[key]
    const found = typeof text === 'string' ? text : (loaded[key] ?? key)
    return found.replaceAll(/\{(\w+)\}/g, (hole, name: string) => String(values[name] ?? hole))
  }
}

type CountedText = TextKey extends infer Key ? (Key extends `${infer Stem}_other` ? Stem : never) : never

/** Returns the key of the singular or plural form for a count. `key` is the prefix. */
export function countKey(key: CountedText, count: number): TextKey {
  return `${key}_${count === 1 ? 'one' : 'other'}`
}
