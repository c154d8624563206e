import { randomBytes } from 'node:crypto'
import { SessmgrError } from '../errors.ts'
import type { OptionStore } from '../options/option-store.ts'

// The point keeps it apart from the options that add-ons register, whose names have none: nobody can expose it.
const OPTION = 'sessmgr.secret'

/**
 * Gives the secrets that sign nonces: those the application was given, newest first, or one that is made once and kept
 * in the store, where every process finds the same.
 */
export function siteSecrets(options: OptionStore, given: readonly string[]): () => Promise<readonly string[]> {
  let kept: Promise<readonly string[]> | undefined
  if (given.length > 0) return async () => given
  return () => {
    kept ??= keptSecret(options).catch((error) => {
      kept = undefined
      throw error
    })
    return kept
  }
}

async function keptSecret(options: OptionStore): Promise<readonly string[]> {
  await options.swap(OPTION, undefined, randomBytes(32).toString('base64url'))
  const secret = (await options.get(OPTION))?.value
  if (typeof secret === 'string' && secret !== '') return [secret]
  throw new SessmgrError('store_unavailable', 'The secret of the nonces could not be kept. Try again shortly.')
}
