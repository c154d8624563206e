/** Maps each action name to the parameters its subscribers receive. */
export type ActionMap<T> = { [K in keyof T]: readonly unknown[] }

/** Describes a filter: the value that is passed through, and the further parameters. */
export interface FilterShape<Value, Parameters extends readonly unknown[] = []> {
  value: Value
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
  readonly actions: Readonly<Record<string, HookEntry>>
  readonly filters: Readonly<Record<string, HookEntry>>
}
