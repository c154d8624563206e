import type { Session } from '../use-sessions.ts'

/** The times by which a list can be sorted. */
export type SortTime = 'last_seen' | 'created' | 'expires'

/** The order of a list: by a time, the latest first unless `isAscending`. */
export interface SessionSort {
  readonly by: SortTime
  readonly isAscending: boolean
}

/** Returns the sessions in this order. */
export function sorted(sessions: readonly Session[], { by, isAscending }: SessionSort): readonly Session[] {
  const sign = isAscending ? 1 : -1
  return sessions.toSorted((one, other) => sign * (one[by] - other[by]))
}
