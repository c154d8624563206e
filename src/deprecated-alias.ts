import { deprecate } from 'node:util'

/** What an alias says of itself. */
export interface DeprecatedName {
  /** The door that exports both names, such as `sessmgr/comments`. */
  readonly door: string
  readonly oldName: string
  readonly newName: string
}

type Callable = ((...parameters: never[]) => unknown) | (new (...parameters: never[]) => unknown)

/**
 * Makes the old name of a function or class that has been renamed: it does the same, and warns when it is first used.
 *
 * The warning is a `DeprecationWarning` with the code `SESSMGR_DEP_<oldName>`, through `process.emitWarning`, once in each
 * process however many copies of the package are loaded. `--throw-deprecation` and `--no-deprecation` of Node apply.
 */
export function deprecatedAlias<T extends Callable>(current: T, { door, oldName, newName }: DeprecatedName): T {
  const message = `${oldName} of ${door} is called ${newName} now. The old name goes with the next major release.`
  // Node deprecates classes as well, though its types speak of functions alone.
  return deprecate(current as () => unknown, message, `SESSMGR_DEP_${oldName}`) as unknown as T
}
