import type { Edits } from './option-draft.ts'

/** All of the site's exposed options, by name. */
export type SiteOptions = Readonly<Record<string, unknown>>

/** The options, and the tag that detects later changes. */
export interface ReadOptions {
  readonly body: SiteOptions
  readonly tag: string | undefined
}

/** A value that has changed. */
export interface OptionChange {
  readonly option: string
  /** Key in the option, or an empty string for the whole option. */
  readonly key: string
  readonly before: unknown
  readonly after: unknown
}

/** Lists the differences between two reads of the options. */
export function optionChanges(before: SiteOptions, after: SiteOptions): readonly OptionChange[] {
  return Object.keys(after).flatMap((option) => {
    const [old, now] = [keysOf(before[option]), keysOf(after[option])]
    return Object.keys(now)
      .filter((key) => !isSame(old[key], now[key]))
      .map((key) => ({ option, key, before: old[key], after: now[key] }))
  })
}

/** Returns the user's edit of a changed value. Undefined without an edit, or if the edit leads to the same value. */
export function editOf(edits: Edits, { option, key, after }: OptionChange): { readonly value: unknown } | undefined {
  const own = keysOf(edits[option])
  return option in edits && key in own && !isSame(own[key], after) ? { value: own[key] } : undefined
}

function keysOf(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord ? (value as Record<string, unknown>) : { '': value }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
