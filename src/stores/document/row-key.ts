import { hash } from 'node:crypto'

/** Longest name that a key spells out. An index of MySQL takes no key above 768 characters, and others less. */
const LONGEST = 200

/** Spells the key of a row: plain ASCII, so that no database folds two of them into one. */
export function rowKey(kind: 'user' | 'passwords' | 'option' | 'transient' | 'generation', name: string): string {
  // Half a surrogate pair has no spelling.
  const spelled = /\p{Surrogate}/u.test(name) ? undefined : encodeURIComponent(name)
  if (spelled !== undefined && spelled.length <= LONGEST) return `${kind[0]}:${spelled}`
  return `${kind[0]}:#${hash('sha256', JSON.stringify(name))}`
}
