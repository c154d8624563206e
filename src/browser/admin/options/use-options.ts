import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { OPTIONS_PATH } from '../../../features/admin/screen-tabs.ts'
import { draft, rest, saving } from '../screen.ts'
import { edited, type ReadOptions, type SiteOptions } from './option-draft.ts'

export const OPTIONS_KEY = ['options']

/** Reads all of the site's options. */
export function readOptions(): Promise<ReadOptions> {
  return rest.requestObject<SiteOptions>('GET', OPTIONS_PATH)
}

/** The query that reads all of the site's options. */
export const OPTIONS_QUERY = { queryKey: OPTIONS_KEY, queryFn: readOptions }

/**
 * Reads all of the site's options, once for all components. If `isNeeded` is false, returns only what is already
 * loaded.
 */
export function useOptions(isNeeded = true): UseQueryResult<SiteOptions> {
  return useQuery({
    ...OPTIONS_QUERY,
    select: ({ body }) => body,
    // Keep the values that the user saw before editing, because saving compares with them.
    enabled: ({ state }) => isNeeded && (state.data === undefined || !draft.isDirty()),
  })
}

/** The state of the option that a panel edits. */
interface OptionState {
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

/** Returns the props of an option's fields by key, or undefined while the option loads. */
export function useOptionFields<T extends object>(name: string) {
  const [settings, change, { changed, problems }] = useOption<T>(name)
  if (!settings) return undefined
  const field = <K extends keyof T & string>(key: K) => ({
    value: settings[key],
    isChanged: changed.includes(key),
    problem: problems[key],
    onChange: (value: T[K]) => change({ [key]: value } as unknown as Partial<T>),
  })
  return {
    settings,
    change,
    field,
    toggle<K extends keyof T & string>(key: K) {
      const { value, ...props } = field(key)
      return { ...props, checked: value }
    },
  }
}
