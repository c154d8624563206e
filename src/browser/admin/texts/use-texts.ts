import { useSyncExternalStore } from 'react'
import { hookChanges, hooks } from '../screen.ts'
import { TEXTS } from './texts.ts'

export type TextKey = keyof typeof TEXTS

/** Returns a text, with `values` in place of each `{name}`. */
export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string

/** The texts from the server: English, with the application's replacements. */
const SERVED: Readonly<Record<TextKey, string>> = {
  ...TEXTS,
  ...JSON.parse(document.getElementById('sessmgr-texts')?.textContent ?? '{}'),
}

let known: { version: number; texts: Readonly<Record<string, unknown>> } | undefined

/** Returns the texts after translation by add-ons. They are cached until an add-on is added or removed. */
function currentTexts(version: number): Readonly<Record<string, unknown>> {
  if (known?.version !== version) known = { version, texts: hooks.applyFilters('sessmgr.admin.i18n', { ...SERVED }) }
  return known.texts
}

/** Returns the function that finds a text, passed through the filter `sessmgr.admin.i18n`. */
export function useTexts(): Translate {
  const texts = currentTexts(useSyncExternalStore(hookChanges.subscribe, hookChanges.version))
  return (key, values = {}) => {
    const text = texts?.[key]
    const found = typeof text === 'string' ? text : SERVED[key]
    return found.replaceAll(/\{(\w+)\}/g, (hole, name: string) => String(values[name] ?? hole))
  }
}

type CountedText = TextKey extends infer Key ? (Key extends `${infer Stem}_other` ? Stem : never) : never

/** Returns the key of the singular or plural form for a count. `key` is the prefix. */
export function countKey(key: CountedText, count: number): TextKey {
  return `${key}_${count === 1 ? 'one' : 'other'}`
}
