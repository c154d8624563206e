import { SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { isRecord } from '../ground/option-checks.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { OptionChange } from './option-change.ts'
import type { OptionStore } from './option-store.ts'
import { createSiteOption, type SiteOption } from './site-option.ts'

/** A schema that checks a value, such as any zod schema. */
export interface OptionSchema<T> {
  /** Checks a value and returns the problems instead of throwing. */
  safeParse(value: unknown):
    | {
        /** The value is valid. */
        success: true
        /** The value to store. */
        data: T
      }
    | {
        /** The value is not valid. */
        success: false
        /** What is wrong with the value. */
        error: {
          /** One entry for each problem. */
          issues: readonly {
            /** Path of keys to the invalid part; empty for the value itself. */
            path: readonly PropertyKey[]
            /** What must be true of that part, as a readable message. */
            message: string
          }[]
        }
      }
}

/** Defines an option of an add-on. */
export interface OptionDefinition<T> {
  /** Checks a whole value before it is stored: a zod schema, or any object with `safeParse()`. */
  readonly schema: OptionSchema<T>
  /** The value to use while nothing valid is stored. */
  readonly default: T
  /** Whether administrators can read and change the option through `/wp/v2/settings`. @default false */
  readonly rest?: boolean | undefined
  /** Repairs a value before the schema checks it. @default the unchanged value */
  readonly sanitize?: ((value: unknown, current: T) => unknown) | undefined
}

/** Holds all of the site's options by name. */
export interface OptionRegistry {
  /**
   * Registers an option of an add-on.
   *
   * @param name A lowercase letter followed by lowercase letters, digits and "_".
   * @throws SessmgrError `invalid_option` if the name is invalid or taken, or if the schema is missing or refuses the
   * default.
   */
  register<T>(name: string, definition: OptionDefinition<T>): SiteOption<T>
  /** Returns the option with this name, or undefined if there is none. */
  get(name: string): SiteOption | undefined
  /** Lists the options that the generic settings endpoint shows. */
  exposed(): readonly SiteOption[]
}

/** The registry inside the package, to which features add their own options. */
export interface OptionCollection extends OptionRegistry {
  /** Adds an option, replacing one with the same name. */
  add(option: SiteOption): void
}

/** Creates the registry with the built-in options. */
export function createOptionRegistry(
  store: OptionStore,
  hooks: Hooks,
  own: readonly SiteOption[],
  noteChange?: (change: OptionChange) => void,
): OptionCollection {
  const options = new Map(own.map((option) => [option.name, option]))
  return {
    register(name, definition) {
      if (typeof name !== 'string' || !/^[a-z][a-z0-9_]*$/.test(name)) {
        throw invalidOption(
          `An option name must be a lowercase letter followed by lowercase letters, digits and "_"; got "${String(name)}"`,
        )
      }
      if (options.has(name)) throw invalidOption(`The "${name}" option already exists`)
      if (typeof definition?.schema?.safeParse !== 'function') {
        throw invalidOption(`The "${name}" option needs a schema: an object with safeParse(), such as a zod schema`)
      }
      const { schema, default: fallback, rest = false, sanitize = (value) => value } = definition
      if (!schema.safeParse(fallback).success)
        throw invalidOption(`The default of the "${name}" option does not match its schema`)
      const option = createSiteOption({
        name,
        rest,
        store,
        hooks,
        noteChange,
        defaults: () => fallback,
        build(fallback, stored) {
          // A value stored by an older version of the add-on may no longer match. Reading the option must still
          // succeed, so that it can be repaired.
          const result = schema.safeParse(merge(fallback, stored))
          return result.success ? result.data : fallback
        },
        sanitize: async (value, current) => accept(name, schema, await sanitize(value, current)),
      })
      options.set(name, option as SiteOption)
      return option
    },
    add: (option) => void options.set(option.name, option),
    get: (name) => options.get(name),
    exposed: () => [...options.values()].filter(({ rest }) => rest),
  }
}

function accept<T>(name: string, schema: OptionSchema<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const params = Object.fromEntries(
    result.error.issues.map(({ path, message }) => [[name, ...path.map(String)].join('.'), message]),
  )
  const problems = Object.entries(params).map(([key, message]) => `${key}: ${message}`)
  throw new SessmgrError('invalid_setting', `${problems.join('; ')}. Nothing was changed.`, { params })
}

/** Merges a stored object into the default, which may have gained keys since. */
function merge(fallback: unknown, stored: unknown): unknown {
  return isRecord(fallback) && isRecord(stored) ? { ...fallback, ...stored } : stored
}
