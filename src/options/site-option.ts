import { SessmgrError } from '../ground/errors.ts'
import { isRecord } from '../ground/option-checks.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { type ChangedByWhom, type OptionChange, optionChanges } from './option-change.ts'
import type { OptionStore } from './option-store.ts'

/** An update gives up after losing this many times to other writes. */
const MAX_ATTEMPTS = 20

/** The stored value of an option and its defaults. */
export interface OptionSources<T> {
  /** The stored value. For an object, only the keys that were set. Undefined if nothing is stored. */
  readonly stored: Partial<T> | undefined
  /** The values that apply where nothing is stored. */
  readonly defaults: T
}

/**
 * One option of the site. If its value is an object, only the keys that were set are stored; the others keep their
 * defaults.
 *
 * Every method rejects with `store_unavailable` if the store cannot be reached, and with `hook_failed` or
 * `hook_timeout` if a filter subscriber fails.
 */
export interface SiteOption<T = unknown> {
  /** Name of the option. */
  readonly name: string
  /** Whether the generic settings endpoint shows the option. */
  readonly rest: boolean
  /** Returns the current value: the stored value merged into the default. */
  get(): Promise<T>
  /** Returns the stored value and the defaults separately. */
  sources(): Promise<OptionSources<T>>
  /**
   * Changes the option. If the value is an object, only the given keys are stored; the others keep their values.
   *
   * The new value is sanitized and passed through the `pre_update_option_<name>` filter; the result is sanitized again.
   *
   * @param refuse Called with the value to be replaced. If it throws, nothing is written.
   * @param whom The author of the change, for the activity log.
   * @throws SessmgrError `invalid_setting` with each invalid value; nothing is written.
   */
  update(value: unknown, refuse?: (current: T) => void, whom?: ChangedByWhom): Promise<T>
  /** Checks a value as `update` does, but writes nothing. Resolves to a function that stores the checked value. */
  check(value: unknown, refuse?: (current: T) => void, whom?: ChangedByWhom): Promise<() => Promise<T>>
  /**
   * Deletes the stored value, or one key of it, so that the default applies again. Resolves to the new value.
   *
   * @throws SessmgrError `invalid_setting` for an unknown key.
   */
  reset(key?: string, whom?: ChangedByWhom): Promise<T>
}

export interface SiteOptionParts<T> {
  readonly name: string
  readonly rest: boolean
  readonly store: OptionStore
  readonly hooks: Hooks
  /** Returns the defaults. If they are the same object each time, the value is built only once after each write. */
  defaults(): T | Promise<T>
  /** Merges the stored value into the defaults. */
  build(defaults: T, stored: unknown): T
  /** Returns a valid version of a new value, or throws `invalid_setting`. */
  sanitize(value: unknown, current: T): T | Promise<T>
  /** Sanitizes the result of the filter. `requested` is the value as passed to `update`. @default sanitize */
  sanitizeFiltered?(value: unknown, current: T, requested: unknown): T | Promise<T>
  /** Called for each change of the value. */
  readonly noteChange?: ((change: OptionChange) => void) | undefined
}

/** A snapshot of an option: the stored value, and the result of merging it into the defaults. */
interface OptionState<T> {
  readonly revision: string | undefined
  readonly stored: unknown
  readonly defaults: T
  readonly value: T
}

/** Creates an option on top of an option store. */
export function createSiteOption<T>(parts: SiteOptionParts<T>): SiteOption<T> {
  const { name, rest, store, hooks, sanitize, sanitizeFiltered = sanitize } = parts
  const filter = `pre_update_option_${name}` as const
  let latest: OptionState<T> | undefined

  async function read(): Promise<OptionState<T>> {
    const [found, defaults] = await both(store.get(name), parts.defaults())
    const revision = found?.revision
    if (latest && latest.revision === revision && latest.defaults === defaults) return latest
    const state = { revision, stored: found?.value, defaults, value: valueFrom(defaults, found?.value) }
    latest = state
    return state
  }

  function valueFrom(defaults: T, stored: unknown): T {
    return stored === undefined ? defaults : parts.build(defaults, stored)
  }

  async function prepare({ stored, value: current }: OptionState<T>, value: unknown): Promise<unknown> {
    const requested = isRecord(current) ? recordOf(name, value) : value
    const clean = await sanitize(isRecord(current) ? { ...current, ...(requested as object) } : value, current)
    const filtered = await hooks.applyFilters(filter, clean, current, requested)
    const next = hooks.hasFilter(filter) ? await sanitizeFiltered(filtered, current, requested) : clean
    if (!isRecord(next)) return next
    const isSet = ([key, one]: [string, unknown]) =>
      valueAt(stored, key) !== undefined ||
      valueAt(requested, key) !== undefined ||
      JSON.stringify(one) !== JSON.stringify(valueAt(current, key))
    const entries = Object.entries(next).filter(isSet)
    // Nothing is requested and nothing is stored, so nothing is written.
    return entries.length === 0 && stored === undefined ? undefined : Object.fromEntries(entries)
  }

  /** Returns a function that stores the result of `next`, if any. If another write comes first, `next` runs again. */
  async function prepareChange(next: (state: OptionState<T>) => unknown, whom?: ChangedByWhom) {
    let state = await read()
    let stored = await next(state)
    return async (): Promise<T> => {
      for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
        if (stored === undefined) return state.value
        if (await store.swap(name, state.revision, stored)) {
          const value = valueFrom(state.defaults, stored)
          note(state.value, value, whom)
          return value
        }
        state = await read()
        stored = await next(state)
      }
      throw new SessmgrError('store_unavailable', `Too many changes to the "${name}" option at once. Try again.`)
    }
  }

  async function change(next: (state: OptionState<T>) => unknown, whom?: ChangedByWhom): Promise<T> {
    const store = await prepareChange(next, whom)
    return store()
  }

  const nextOf = (value: unknown, refuse?: (current: T) => void) => (state: OptionState<T>) => {
    refuse?.(state.value)
    return prepare(state, value)
  }

  function note(before: T, after: T, whom?: ChangedByWhom): void {
    for (const one of optionChanges(parts, before, after, whom)) parts.noteChange?.(one)
  }

  return {
    name,
    rest,
    get: async () => (await read()).value,
    async sources() {
      const { stored, defaults, value } = await read()
      if (stored === undefined) return { stored: undefined, defaults }
      if (!isRecord(stored) || !isRecord(value)) return { stored: value, defaults }
      const entries = Object.entries(value).filter(([key]) => Object.hasOwn(stored, key))
      return { stored: Object.fromEntries(entries) as Partial<T>, defaults }
    },
    update: (value, refuse, whom) => change(nextOf(value, refuse), whom),
    check: (value, refuse, whom) => prepareChange(nextOf(value, refuse), whom),
    async reset(key, whom) {
      if (key !== undefined) return change((state) => without(name, state, key), whom)
      const { value, defaults } = await read()
      await store.delete(name)
      note(value, defaults, whom)
      return defaults
    },
  }
}

/** Resolves to both values. Avoids `Promise.all` in the usual case, in which only the first is a promise. */
function both<A, B>(one: Promise<A>, other: B | Promise<B>): Promise<readonly [A, B]> {
  return other instanceof Promise ? Promise.all([one, other]) : one.then((value) => [value, other] as const)
}

/**
 * Returns a copy of the stored object without one key, or undefined if that key is not stored.
 *
 * @throws SessmgrError `invalid_setting` if the option has no such key.
 */
function without(name: string, { stored, value }: OptionState<unknown>, key: string): object | undefined {
  if (valueAt(value, key) === undefined && valueAt(stored, key) === undefined) {
    const params = { [key]: 'is unknown' }
    throw new SessmgrError('invalid_setting', `"${name}" has no key "${key}". Nothing was changed.`, { params })
  }
  if (!isRecord(stored) || !Object.hasOwn(stored, key)) return undefined
  return Object.fromEntries(Object.entries(stored).filter(([own]) => own !== key))
}

function valueAt(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function recordOf(name: string, value: unknown): Record<string, unknown> {
  if (isRecord(value)) return value
  const problem = 'must be an object'
  throw new SessmgrError('invalid_setting', `"${name}" ${problem}. Nothing was changed.`, {
    params: { [name]: problem },
  })
}
