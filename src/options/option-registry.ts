import { SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { OptionStore } from './option-store.ts'
import { createSiteOption, type SiteOption } from './site-option.ts'

/** What checks a value: any zod schema does. */
export interface OptionSchema<T> {
  /** Checks a value, and says what is wrong with it rather than throw. */
  safeParse(value: unknown):
    | {
        /** The value fits. */
        success: true
        /** What is kept of it. */
        data: T
      }
    | {
        /** The value does not fit. */
        success: false
        /** Why not. */
        error: {
          /** What is wrong, one entry for each place. */
          issues: readonly {
            /** The keys that lead to the place; none for the value itself. */
            path: readonly PropertyKey[]
            /** What must hold there, for people. */
            message: string
          }[]
        }
      }
}

/** What an add-on says of an option of its own. */
export interface OptionDefinition<T> {
  /** Checks a whole value, as it would be stored. A zod object drops unknown keys. */
  readonly schema: OptionSchema<T>
  /** What holds where nothing is stored, or nothing that fits the schema. */
  readonly default: T
  /** Whether the generic settings endpoint shows the option to administrators. @default false */
  readonly rest?: boolean | undefined
  /** Repairs a value before the schema checks it. @default the value as it is */
  readonly sanitize?: ((value: unknown, current: T) => unknown) | undefined
}

/** Holds every named option of the site. */
export interface OptionRegistry {
  /**
   * Registers an option of an add-on.
   *
   * @throws SessmgrError `invalid_option` for a name that is taken, or is not a lower-case letter before lower-case letters,
   * digits and "_"; for a missing schema, and for a default that the schema does not accept.
   */
  register<T>(name: string, definition: OptionDefinition<T>): SiteOption<T>
  /** Finds an option by name. */
  get(name: string): SiteOption | undefined
  /** Lists the options that the generic settings endpoint shows. */
  exposed(): readonly SiteOption[]
}

/** The registry as the parts of the service have it, which bring options of their own. */
export interface OptionCollection extends OptionRegistry {
  /** Adds an option, over one of that name. */
  add(option: SiteOption): void
}

/** Creates the registry with the options that the service brings itself. */
export function createOptionRegistry(store: OptionStore, hooks: Hooks, own: readonly SiteOption[]): OptionCollection {
  const options = new Map(own.map((option) => [option.name, option]))
  return {
    register(name, definition) {
      if (typeof name !== 'string' || !/^[a-z][a-z0-9_]*$/.test(name)) {
        throw invalidOption(
          `The name of an option begins with a lower-case letter, and holds such letters, digits and "_"; it is "${String(name)}"`,
        )
      }
      if (options.has(name)) throw invalidOption(`There is an option "${name}" already`)
      if (typeof definition?.schema?.safeParse !== 'function') {
        throw invalidOption(`The option "${name}" needs a schema, such as one of zod: anything with safeParse()`)
      }
      const { schema, default: fallback, rest = false, sanitize = (value) => value } = definition
      if (!schema.safeParse(fallback).success)
        throw invalidOption(`The default of the option "${name}" does not fit its schema`)
      const option = createSiteOption({
        name,
        rest,
        store,
        hooks,
        defaults: () => fallback,
        build(fallback, stored) {
          // What an older version of the add-on stored may fit no longer; it must be possible to read past it and mend it.
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

/** An object that was stored before a key was added takes that key from the default. */
function merge(fallback: unknown, stored: unknown): unknown {
  const isRecord = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord(fallback) && isRecord(stored) ? { ...(fallback as object), ...(stored as object) } : stored
}
