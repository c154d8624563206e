import { useSyncExternalStore } from 'react'
import { hookChanges, hooks } from '../screen.ts'
import { TEXTS } from './texts.ts'

/** Key of a text. */
export type TextKey = keyof typeof TEXTS

/** Gives a text, with values in place of `{name}`. */
export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string

/** The texts as the server sends them: the English ones, with those of the application in their places. */
const SERVED: Readonly<Record<TextKey, string>> = {
  ...TEXTS,
  ...JSON.parse(document.getElementById('sessmgr-texts')?.textContent ?? '{}'),
}

let known: { version: number; texts: Readonly<Record<string, unknown>> } | undefined

/** The texts as add-ons have translated them; asked anew only when an add-on has come or gone. */
function currentTexts(version: number): Readonly<Record<string, unknown>> {
  if (known?.version !== version) known = { version, texts: hooks.applyFilters('sessmgr.admin.i18n', { ...SERVED }) }
  return known.texts
}

/** Gives the function that finds a text, through the filter `sessmgr.admin.i18n`. */
export function useTexts(): Translate {
  const texts = currentTexts(useSyncExternalStore(hookChanges.subscribe, hookChanges.version))
  return (key, values = {}) => {
    const text = texts?.[key]
    const found = typeof text === 'string' ? text : SERVED[key]
    return found.replaceAll(/\{(\w+)\}/g, (hole, name: string) => String(values[name] ?? hole))
  }
}

type CountedText = TextKey extends infer Key ? (Key extends `${infer Stem}_other` ? Stem : never) : never

/** Gives the form of a text for a count. `key` is what its keys begin with. */
export function countKey(key: CountedText, count: number): TextKey {
  return `${key}_${count === 1 ? 'one' : 'other'}`
}
