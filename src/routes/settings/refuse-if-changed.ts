import type { HostRequest } from '../../guard/host-types.ts'
import { changedSince } from '../../options/option-tag.ts'
import { RestError } from '../rest-error.ts'

export interface OptionWrite {
  readonly name: string
  /** The value to be replaced. */
  readonly current: unknown
  readonly requested: unknown
  /** Prefix of keys in the response, or an empty string if the route serves only this option. */
  readonly prefix: string
}

/**
 * Refuses to write keys that have changed since the caller read them, according to `If-Match`.
 *
 * @throws RestError 409 `settings_changed` with both values of each such key.
 */
export function refuseIfChanged(request: HostRequest, writes: readonly OptionWrite[]): void {
  const tag = request.headers['if-match']
  if (tag === undefined || tag.trim() === '*') return
  const changed = writes.flatMap(({ name, current, requested, prefix }) =>
    changedSince(tag, name, current, requested).map(({ key, ...values }) => [
      [prefix, key].filter((part) => part !== '').join('.'),
      values,
    ]),
  )
  if (changed.length === 0) return
  throw new RestError(
    409,
    'settings_changed',
    'The settings have changed since you read them, and nothing was saved. Read them again, then save.',
    { data: { changed: Object.fromEntries(changed) } },
  )
}
