import { hash } from 'node:crypto'

/** Longest name in a key. An index in MySQL allows keys of at most 768 characters; other databases allow fewer. */
const LONGEST = 200

/** Builds the key of a row in plain ASCII, so that no database considers two keys equal. */
export function rowKey(
  kind: 'user' | 'passwords' | 'option' | 'transient' | 'generation' | 'index',
  name: string,
): string {
  // Half of a surrogate pair cannot be encoded.
  const spelled = /\p{Surrogate}/u.test(name) ? undefined : encodeURIComponent(name)
  if (spelled !== undefined && spelled.length <= LONGEST) return `${kind[0]}:${spelled}`
  return `${kind[0]}:#${hash('sha256', JSON.stringify(name))}`
}
