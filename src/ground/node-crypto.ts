import type * as NodeCrypto from 'node:crypto'

let loaded: typeof NodeCrypto | undefined

/** Returns `node:crypto`, loaded with its first use: an `import` would take half of what the package takes to load. */
export function nodeCrypto(): typeof NodeCrypto {
  loaded ??= process.getBuiltinModule('node:crypto')
  return loaded
}
