/** Maps each action name to the parameters of its subscribers. */
export type ActionMap<T> = { [K in keyof T]: readonly unknown[] }

/** Describes a filter: its value and further parameters. */
export interface FilterShape<Value, Parameters extends readonly unknown[] = []> {
  /** The value that subscribers receive and return. */
  value: Value
  /** Further parameters, after the value. */
  parameters: Parameters
}

/** Maps each filter name to its shape. */
export type FilterMap<T> = { [K in keyof T]: FilterShape<unknown, readonly unknown[]> }

/** Documents one hook. */
export interface HookEntry {
  /** Names of the parameters in order. The first parameter of a filter is the value. */
  readonly parameters: readonly string[]
  /** First release that has the hook. */
  readonly since: string
  /** When the hook fires, or what it decides, in one sentence. */
  readonly summary: string
}

/** All hooks of a bus, by name. */
export interface HookCatalogue {
  /** Actions by name. */
  readonly actions: Readonly<Record<string, HookEntry>>
  /** Filters by name. */
  readonly filters: Readonly<Record<string, HookEntry>>
}
