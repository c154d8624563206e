import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { OPTIONS_PATH } from '../../../features/admin/screen-tabs.ts'
import type { Tagged } from '../rest/rest-client.ts'
import { draft, OPTIONS_KEY, queries, rest } from '../screen.ts'
import type { Person } from '../sessions/use-sessions.ts'
import { edited, isPathIn, type SiteOptions } from './option-draft.ts'

/** Reads all of the site's options. */
export function readOptions(): Promise<Tagged<SiteOptions>> {
  return rest.requestObject('GET', OPTIONS_PATH)
}

/** The query that reads all of the site's options. */
export const OPTIONS_QUERY = { queryKey: OPTIONS_KEY, queryFn: readOptions }

/** A change of a setting in the activity log. `at` is in milliseconds since the Unix epoch. */
export interface LoggedChange {
  readonly at: number
  readonly actor?: Pick<Person, 'id'> & Partial<Person>
  readonly details?: { readonly option?: unknown; readonly key?: unknown; readonly to?: unknown }
}

/** How many recent settings changes to search. */
const SEARCHED = '20'

/** Returns the query that reads the recent settings changes, newest first, again whenever the options have changed. */
export function settingsLogQuery(options: SiteOptions | undefined) {
  return {
    queryKey: ['settings-log', JSON.stringify(options)],
    async queryFn(): Promise<readonly LoggedChange[]> {
      const query = new URLSearchParams({ type: 'settings.changed', limit: SEARCHED })
      const { events } = await rest.request<{ events?: unknown }>('GET', `sessmgr/v1/audit?${query}`)
      return Array.isArray(events) ? events : []
    },
    retry: false,
  }
}

/** Shows options that have just been read. */
export function showOptions(options: Tagged<SiteOptions>): void {
  // A read that began earlier would restore the old values.
  void queries.cancelQueries({ queryKey: OPTIONS_KEY })
  queries.setQueryData(OPTIONS_KEY, options)
}

/**
 * Reads all of the site's options, once for all components. If `isNeeded` is false, returns only what is already
 * loaded.
 */
export function useOptions(isNeeded = true): UseQueryResult<SiteOptions> {
  return useQuery({
    ...OPTIONS_QUERY,
    select: ({ body }) => body,
    // Keep the tag of the values that the user saw before editing, because the server compares with it.
    enabled: ({ state }) => isNeeded && (state.data === undefined || !draft.isDirty()),
  })
}

/** Reads from the draft, and re-renders when the result changes. */
export function useDraft<T>(read: () => T): T {
  return useSyncExternalStore(draft.subscribe, read)
}

/** The state of the option that a panel edits. */
interface OptionState {
  /** Whether the option is loading, or could not be read. */
  readonly isLoading: boolean
  /** Whether the option has an unsaved edit. */
  readonly isDirty: boolean
  /** The server's messages about refused values: under `''` for the whole option, or under the key of a part. */
  readonly problems: Readonly<Record<string, string>>
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
  const edits = useDraft(draft.edits)
  const problems = Object.entries(useDraft(draft.refusal)?.problems ?? {}).filter(([path]) => isPathIn(name, path))
  return [
    edited(data?.[name], edits[name]) as T | undefined,
    (value) => {
      if (data) draft.edit(name, value)
    },
    {
      isLoading: data === undefined,
      isDirty: name in edits,
      problems: Object.fromEntries(problems.map(([path, problem]) => [path.slice(name.length + 1), problem])),
    },
  ]
}

/** Returns the props of an option's fields by key, or undefined while the option loads. */
export function useOptionFields<T extends object>(name: string) {
  const [settings, change, { problems }] = useOption<T>(name)
  if (!settings) return undefined
  const field = <K extends keyof T & string>(key: K) => ({
    value: settings[key],
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
