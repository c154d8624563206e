import { useSyncExternalStore } from 'react'
import { draft, saving } from '../screen.ts'
import { edited } from './option-draft.ts'
import { useOptions } from './use-options.ts'

/** The state of the option that a panel edits. */
export interface OptionState {
  /** Whether the option is loading, or could not be read. */
  readonly isLoading: boolean
  /** Whether the option has an unsaved edit. */
  readonly isDirty: boolean
  /** The server's messages about refused values: under `''` for the whole option, or under the key of a part. */
  readonly problems: Readonly<Record<string, string>>
  /** Keys that another user has changed, for ten seconds after a save. */
  readonly changed: readonly string[]
}

/**
 * Reads and edits an option. The Save Changes button saves all edits.
 *
 * If the option is an object, pass only the changed keys to the setter.
 *
 * @returns The value including its edits, or undefined while it loads; the setter; and the state of the option.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the panel knows the type of its option.
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
