import type { Translate } from '../../texts/use-texts.ts'
import type { SearchResult } from './use-people-search.ts'

/**
 * Returns that nobody has this name, or whether anyone is signed in from this address.
 *
 * @param found What the search for this text has found, if there was one.
 */
export function noneFound(t: Translate, text: string, found: SearchResult | undefined): string {
  const { address } = found ?? {}
  if (!address) return t('nobody_called', { text })
  if (address.people.length > 0) return t('signed_in_from', { ip: address.ip })
  return t(address.exact ? 'nobody_from' : 'nobody_from_lately', { ip: address.ip })
}
