import { createContext, createElement, type ReactNode, useContext, useMemo, useSyncExternalStore } from 'react'
import { hookChanges, hooks } from '../screen.ts'
import { locale } from './locale.ts'
import { SHELL_TEXTS } from './shell-texts.ts'
import type { TEXTS } from './texts.ts'

export type TextKey = keyof typeof TEXTS

/** Returns a text, with `values` in place of each `{name}`. Numbers are grouped as the language does it. */
export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string

/** The texts that are loaded: English, with the application's replacements. */
let loaded: Readonly<Record<string, string>> = {
  ...SHELL_TEXTS,
  ...JSON.parse(document.getElementById('sessmgr-texts')?.textContent ?? '{}'),
}

let number: Intl.NumberFormat | undefined

let known: Readonly<Record<string, unknown>> | undefined

/** Adds the texts of a part of the screen. The part's own file calls this, so that they are loaded with it. */
export function addTexts(texts: Readonly<Record<string, string>>): void {
  loaded = { ...texts, ...loaded }
  known = undefined
}

/** Creates the function that looks up a text, after the `sessmgr.admin.i18n` filter. */
function createTranslate(): Translate {
  known = undefined
  return (key, values = {}) => {
    // The texts change only when a subscriber is added or removed, or a part of the screen is loaded.
    known ??= hooks.applyFilters('sessmgr.admin.i18n', { ...loaded }) ?? {}
    const text = known[key]
    const found = typeof text === 'string' ? text : (loaded[key] ?? key)
    return found.replaceAll(/\{(\w+)\}/g, (hole, name: string) => {
      const value = values[name] ?? hole
      if (typeof value === 'string') return value
      number ??= new Intl.NumberFormat(locale)
      return number.format(value)
    })
  }
}

const Texts = createContext(createTranslate())

/** Gives the texts to all components below it, and others when an add-on replaces them. */
export function TextsProvider({ children }: { children: ReactNode }): ReactNode {
  const version = useSyncExternalStore(hookChanges.subscribe, hookChanges.version)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a subscriber that was added may change the texts.
  const translate = useMemo(createTranslate, [version])
  return createElement(Texts, { value: translate }, children)
}

/** Returns the function that looks up a text. */
export function useTexts(): Translate {
  return useContext(Texts)
}

type CountedText = TextKey extends infer Key ? (Key extends `${infer Stem}_other` ? Stem : never) : never

/** Returns the key of the singular or plural form for a count. `key` is the prefix. */
export function countKey(key: CountedText, count: number): TextKey {
  return `${key}_${count === 1 ? 'one' : 'other'}`
}
