import { useMemo, useState } from 'react'
import { place } from '../../screen.ts'
import { type StillRows, useStillRows } from '../table/use-still-rows.ts'
import type { Session } from '../use-sessions.ts'
import { partsOf, type SessionSort, sorted, sortIn } from './session-sort.ts'

const tokenOf = ({ token }: Session) => token

/** The rows of a user's sessions, and their order. */
export interface SortedRows extends StillRows<Session> {
  readonly sort: SessionSort
  /** Rebuilds the list in this order. */
  sortBy(order: SessionSort): void
}

/** Follows a user's sessions, in an order that the URL keeps. */
export function useSortedRows(sessions: readonly Session[]): SortedRows {
  const [sort, setSort] = useState(() => sortIn(new URLSearchParams(place.query())))
  const list = useMemo(() => sorted(sessions, sort), [sessions, sort])
  const rows = useStillRows(list, tokenOf)
  return {
    ...rows,
    sort,
    show: (newest) => rows.show(sorted(newest, sort)),
    sortBy(order) {
      setSort(order)
      place.amendQuery(partsOf(order))
      rows.show(sorted(sessions, order))
    },
  }
}
