import { isRecord } from '../ground/option-checks.ts'
import type { UserId } from '../ground/user-id.ts'

/** The author of a change to an option. */
export interface ChangedByWhom {
  /** Whether an administrator or the application changes the option. @default 'app' */
  readonly by?: 'admin' | 'app' | undefined
  /** Id of the user who changes the option, for the activity log. */
  readonly actor?: UserId | undefined
}

/** A change to an option, or to one of its keys. */
export interface OptionChange extends ChangedByWhom {
  readonly option: string
  /** The key that changed. Undefined if the value of the option is not an object. */
  readonly key?: string
  /** The old value. Undefined if the option is not exposed over REST, because it may be secret. */
  readonly from?: unknown
  /** The new value. Undefined in the same case as `from`. */
  readonly to?: unknown
}

/** Lists the changes between two values of an option: one for each key if both are objects. */
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
