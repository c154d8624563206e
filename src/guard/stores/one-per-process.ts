/**
 * Returns an object that all copies of this package in a process share, creating it if needed. An application may load
 * the package both as an ES module and as CommonJS.
 *
 * @param name Identifies the object across versions of this package.
 */
export function onePerProcess<Shared extends object>(name: string, make: () => Shared): Shared {
  const key = Symbol.for(`sessmgr.${name}`)
  const shared = globalThis as { [key: symbol]: Shared | undefined }
  shared[key] ??= make()
  return shared[key]
}
