import type * as NodeCrypto from 'node:crypto'

let loaded: typeof NodeCrypto | undefined

/**
 * Returns `node:crypto`, loaded on first use. Importing it would take half of the time that the package takes to load.
 */
export function nodeCrypto(): typeof NodeCrypto {
  loaded ??= process.getBuiltinModule('node:crypto')
  return loaded
}
