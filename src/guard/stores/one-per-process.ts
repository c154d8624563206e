/**
 * Gives what all copies of this package in a process have in common, making it if none has yet: an application may load
 * it as an ES module and as CommonJS, and each is a copy.
 *
 * @param name The same name gives the same object, in every version of this package.
 */
export function onePerProcess<Shared extends object>(name: string, make: () => Shared): Shared {
  const key = Symbol.for(`sessmgr.${name}`)
  const shared = globalThis as { [key: symbol]: Shared | undefined }
  shared[key] ??= make()
  return shared[key]
}
