import type { TextKey } from '../texts/text-catalogue.ts'
import type { Say } from '../texts/texts-for.ts'
import { html, type Markup, type Part } from './markup.ts'

/** Returns the key of the singular or the plural of a text. */
export const counted = (key: string, count: number) => `${key}_${count === 1 ? 'one' : 'other'}` as TextKey

/** Returns a text with markup in its placeholders. */
export function filled(say: Say, key: TextKey, values: Readonly<Record<string, Part>>): Markup {
  const marks = Object.fromEntries(Object.keys(values).map((name) => [name, `\u0001${name}\u0001`]))
  const parts = say(key, marks).split('\u0001')
  return html`${parts.map((part, index) => (index % 2 === 1 ? values[part] : part))}`
}
