import { useSyncExternalStore } from 'react'
import { draft, saving } from '../screen.ts'
import { edited } from './option-draft.ts'
import { useOptions } from './use-options.ts'

/** What a panel knows of the option that it edits. */
export interface OptionState {
  /** Whether the option is still on its way, or could not be read. */
  readonly isLoading: boolean
  /** Whether the option has an edit that is not saved. */
  readonly isDirty: boolean
  /** What the server said of a refused value: of the whole option under `''`, of one of its keys under that key. */
  readonly problems: Readonly<Record<string, string>>
  /** Keys that the last save has shown to be changed by somebody else; for ten seconds. */
  readonly changed: readonly string[]
}

/**
 * Reads an option and edits it. What is edited is saved with everything else, by the one button Save Changes.
 *
 * Of an option that is an object, the setter takes the keys that change.
 *
 * @returns The value with the edits, undefined while it is on its way; the setter; and what else a panel may show.
 */
// biome-ignore lint/suspicious/noExplicitAny: the panel alone knows the type of its option.
export function useOption<T = any>(name: string): [T | undefined, (value: T | Partial<T>) => void, OptionState] {
  const { data } = useOptions()
  const edits = useSyncExternalStore(draft.subscribe, draft.edits)
  const problems = useSyncExternalStore(draft.subscribe, draft.problems)
  const marked = useSyncExternalStore(saving.marked.subscribe, saving.marked.value)
  const stored = data?.[name]
  const own = Object.entries(problems).filter(([key]) => key === name || key.startsWith(`${name}.`))
  return [
    edited(stored, edits[name]) as T | undefined,
    (value) => {
      if (data) draft.edit(name, stored, value)
    },
    {
      isLoading: data === undefined,
      isDirty: name in edits,
      changed: marked.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1)),
      problems: Object.fromEntries(own.map(([key, problem]) => [key.slice(name.length + 1), problem])),
    },
  ]
}
