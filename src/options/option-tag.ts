import { nodeCrypto } from '../ground/node-crypto.ts'
import { isRecord } from '../ground/option-checks.ts'

/** An option with more keys than this gets a single digest, because the tag must fit into a header. */
const MAX_KEYS = 50
/** Finds the digests in a tag, despite the `W/` or `-gzip` that proxies add. */
const DIGEST = /\b[0-9a-f]{12}\b/g

/** A value that has changed since the client read it. */
export interface ChangedValue {
  /** Key in the option; empty for the whole option. */
  readonly key: string
  readonly current: unknown
  readonly requested: unknown
}

/** Returns an entity tag for several options, with a digest of each key. */
export function optionTag(options: Readonly<Record<string, unknown>>): string {
  const digests = Object.entries(options).flatMap(([name, value]) =>
    entriesOf(value).map(([key, one]) => digest(name, key, one)),
  )
  return `"${digests.join('.')}"`
}

/** Lists the keys that a write would overwrite although they have changed since the tag was created. */
export function changedSince(tag: string, name: string, current: unknown, requested: unknown): readonly ChangedValue[] {
  const seen = new Set(tag.match(DIGEST))
  const changed = entriesOf(current).filter(([key, value]) => !seen.has(digest(name, key, value)))
  if (!isDivided(current) || !isRecord(requested)) {
    return changed.length === 0 || isSame(current, requested) ? [] : [{ key: '', current, requested }]
  }
  return changed
    .filter(([key, value]) => Object.hasOwn(requested, key) && !isSame(requested[key], value))
    .map(([key, value]) => ({ key, current: value, requested: requested[key] }))
}

function entriesOf(value: unknown): readonly (readonly [key: string, value: unknown])[] {
  return isDivided(value) ? Object.entries(value) : [['', value]]
}

function digest(name: string, key: string, value: unknown): string {
  const text = JSON.stringify([name, key, value])
  return nodeCrypto().createHash('sha256').update(text).digest('hex').slice(0, 12)
}

function isDivided(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.keys(value).length <= MAX_KEYS
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
