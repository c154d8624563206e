import type { Session } from '../use-sessions.ts'

/** The times by which a list can be sorted, as its columns have them. */
export const SORT_TIMES = ['last_seen', 'created', 'expires'] as const

export type SortTime = (typeof SORT_TIMES)[number]

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

/** Reads the order from the URL's query: the last used first if it has none. */
export function sortIn(query: URLSearchParams): SessionSort {
  const by = SORT_TIMES.find((time) => time === query.get('sort')) ?? 'last_seen'
  return { by, isAscending: query.get('order') === 'ascending' }
}

/** Returns the order as parts of the URL's query. */
export function partsOf({ by, isAscending }: SessionSort) {
  return { sort: by, order: isAscending ? 'ascending' : undefined }
}
