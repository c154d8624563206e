import type { Edits } from './option-draft.ts'

/** Every option of the site that is exposed, by name. */
export type SiteOptions = Readonly<Record<string, unknown>>

/** The options, and the tag by which the server knows whether they have changed since. */
export interface ReadOptions {
  readonly body: SiteOptions
  readonly tag: string | undefined
}

/** A value that is not what it was. */
export interface OptionChange {
  readonly option: string
  /** Key in the option; empty for the option as a whole. */
  readonly key: string
  readonly before: unknown
  readonly after: unknown
}

/** Lists what differs between two readings of the options. */
export function optionChanges(before: SiteOptions, after: SiteOptions): readonly OptionChange[] {
  return Object.keys(after).flatMap((option) => {
    const [old, now] = [keysOf(before[option]), keysOf(after[option])]
    return Object.keys(now)
      .filter((key) => !isSame(old[key], now[key]))
      .map((key) => ({ option, key, before: old[key], after: now[key] }))
  })
}

/** Gives the edit of a value that has changed; undefined when there is none, or when it wants the same. */
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
