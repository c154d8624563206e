import type * as NodeCrypto from 'node:crypto'

let loaded: typeof NodeCrypto | undefined

/** Returns `node:crypto`, loaded on first use. Importing it would account for half of the package's loading time. */
export function nodeCrypto(): typeof NodeCrypto {
  loaded ??= process.getBuiltinModule('node:crypto')
  return loaded
}
