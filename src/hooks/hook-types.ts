/** Maps each action name to the parameters its subscribers receive. */
export type ActionMap<T> = { [K in keyof T]: readonly unknown[] }

/** Describes a filter: the value that is passed through, and the further parameters. */
export interface FilterShape<Value, Parameters extends readonly unknown[] = []> {
  /** What is passed through: given to each subscriber, and returned by it. */
  value: Value
  /** What each subscriber receives after the value. */
  parameters: Parameters
}

/** Maps each filter name to its shape. */
export type FilterMap<T> = { [K in keyof T]: FilterShape<unknown, readonly unknown[]> }

/** Documents one hook: what the catalogue knows of it beyond its types. */
export interface HookEntry {
  /** Names of the parameters in order; for a filter the first one is the value. */
  readonly parameters: readonly string[]
  /** First release that has the hook. */
  readonly since: string
  /** One sentence: when it fires, or what it decides. */
  readonly summary: string
}

/** Lists every hook that a bus knows, by name. */
export interface HookCatalogue {
  /** The actions by name. */
  readonly actions: Readonly<Record<string, HookEntry>>
  /** The filters by name. */
  readonly filters: Readonly<Record<string, HookEntry>>
}
