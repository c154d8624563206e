import { isRecord } from '../ground/option-checks.ts'
import type { UserId } from '../ground/user-id.ts'

/** On whose behalf an option changes. */
export interface ChangedByWhom {
  /** On whose behalf the option changes: an administrator, or the application. @default 'app' */
  readonly by?: 'admin' | 'app' | undefined
  /** Id of the user who changes it, for the activity log. */
  readonly actor?: UserId | undefined
}

/** A change of one option, or of one key of it. */
export interface OptionChange extends ChangedByWhom {
  readonly option: string
  /** The key that changed. Undefined if the value of the option is not an object. */
  readonly key?: string
  /** The value before. Undefined if the option is not exposed over REST, because it may be secret. */
  readonly from?: unknown
  /** The value after; as `from`. */
  readonly to?: unknown
}

/** Lists what differs between two values of an option. */
export function optionChanges(
  { name, rest }: { readonly name: string; readonly rest: boolean },
  before: unknown,
  after: unknown,
  whom: ChangedByWhom = {},
): readonly OptionChange[] {
  const change = (from: unknown, to: unknown, key?: string): readonly OptionChange[] => {
    if (JSON.stringify(from) === JSON.stringify(to)) return []
    return [{ option: name, ...(key !== undefined && { key }), ...(rest && { from, to }), ...whom }]
  }
  if (!isRecord(before) || !isRecord(after)) return change(before, after)
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => change(before[key], after[key], key))
}
