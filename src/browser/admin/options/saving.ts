import type { OptionChange, ReadOptions } from './option-changes.ts'
import { createSignal, type Signal } from './signal.ts'

const MARK_MS = 10_000

/** Edits that conflict with changes of another user. */
export interface Conflict {
  readonly changes: readonly OptionChange[]
  readonly newest: ReadOptions
  /** The options as the user saw them when saving. */
  readonly known: ReadOptions
}

/** The state of the last save. */
export interface Saving {
  /** Why the last save failed. */
  readonly failure: Signal<string | undefined>
  readonly conflict: Signal<Conflict | undefined>
  /** Values that another user has changed, by `option.key`, while they are highlighted. */
  readonly marked: Signal<readonly string[]>
  mark(changes: readonly OptionChange[]): void
}

/** Creates the state of the last save. */
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
