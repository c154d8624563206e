import { useSyncExternalStore } from 'react'
import type { Query } from '../rest/queries.ts'
import { type Read, useQuery } from '../rest/use-rest.ts'
import { draft, OPTIONS_QUERY, queries } from '../screen.ts'
import type { Person } from '../sessions/use-sessions.ts'
import { edited, isPathIn, type SiteOptions } from './option-draft.ts'

/** A change of a setting in the activity log. `at` is in milliseconds since the Unix epoch. */
export interface LoggedChange {
  readonly at: number
  readonly actor?: Pick<Person, 'id'> & Partial<Person>
  readonly details?: { readonly option?: unknown; readonly key?: unknown; readonly to?: unknown }
}

/** How many recent settings changes to search. */
const SEARCHED = '20'

/** Returns the query that reads the recent settings changes, newest first, again whenever the options have changed. */
export function settingsLogQuery(options: SiteOptions | undefined): Query<{ readonly events?: unknown }> {
  return {
    key: ['settings-log', options],
    path: () => `sessmgr/v1/audit?${new URLSearchParams({ type: 'settings.changed', limit: SEARCHED })}`,
    failsAtOnce: true,
  }
}

/** Returns the changes in what that query has read. */
export function changesIn(log: { readonly events?: unknown } | undefined): readonly LoggedChange[] {
  return Array.isArray(log?.events) ? log.events : []
}

/**
 * Reads all of the site's options, once for all components. If `isNeeded` is false, returns only what is already
 * loaded.
 */
export function useOptions(isNeeded = true): Read<SiteOptions> {
  const isDirty = useDraft(draft.isDirty)
  // Keep the tag of the values that the user saw before editing, because the server compares with it.
  return useQuery(OPTIONS_QUERY, { isNeeded: isNeeded && !(isDirty && queries.get(OPTIONS_QUERY)) })
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
