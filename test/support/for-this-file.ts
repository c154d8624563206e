import { afterAll, beforeAll } from 'vitest'

/**
 * Starts something before the tests of a file, and closes it after them. Returns a stand-in that only tests and hooks can
 * use, so that a list of the tests starts nothing.
 */
export function forThisFile<T extends object>(start: () => Promise<T>): T {
  let started: (T & { close?(): unknown }) | undefined
  beforeAll(async () => {
    started = await start()
  })
  afterAll(async () => void (await started?.close?.()))

  function real(): T {
    if (started) return started
    throw new Error('What forThisFile() starts can be used only in tests and hooks.')
  }
  return new Proxy({} as T, {
    get(_, name) {
      const value = Reflect.get(real(), name)
      // Methods of a class may read private fields.
      const isMethod = typeof value === 'function' && !Object.hasOwn(real(), name)
      return isMethod ? value.bind(real()) : value
    },
    set: (_, name, value) => Reflect.set(real(), name, value),
    has: (_, name) => Reflect.has(real(), name),
    ownKeys: () => Reflect.ownKeys(real()),
    getOwnPropertyDescriptor(_, name) {
      const found = Reflect.getOwnPropertyDescriptor(real(), name)
      return found && { ...found, configurable: true }
    },
  })
}
