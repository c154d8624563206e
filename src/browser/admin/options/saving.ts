import type { OptionChange, ReadOptions } from './option-changes.ts'
import { createSignal, type Signal } from './signal.ts'

const MARK_MS = 10_000

/** Edits that somebody else's changes are in the way of. */
export interface Conflict {
  readonly changes: readonly OptionChange[]
  readonly newest: ReadOptions
  /** What the person knew when they pressed the button. */
  readonly known: ReadOptions
}

/** What is to be known of the last save. */
export interface Saving {
  /** Why it failed. */
  readonly failure: Signal<string | undefined>
  readonly conflict: Signal<Conflict | undefined>
  /** Values that somebody else has changed, by `option.key`, for as long as they are marked. */
  readonly marked: Signal<readonly string[]>
  mark(changes: readonly OptionChange[]): void
}

/** Creates what is to be known of the last save. */
export function createSaving(): Saving {
  const marked = createSignal<readonly string[]>([])
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    failure: createSignal<string | undefined>(undefined),
    conflict: createSignal<Conflict | undefined>(undefined),
    marked,
    mark(changes) {
      clearTimeout(timer)
      marked.become(changes.map(({ option, key }) => `${option}.${key}`))
      timer = setTimeout(() => marked.become([]), MARK_MS)
    },
  }
}
