import { useState } from 'react'
import { endRows, followRows, missingRows, rowsOf, type StillRow } from './still-rows.ts'

/** The visible rows, which keep their places while items come and go. */
export interface StillRows<T> {
  readonly rows: readonly StillRow<T>[]
  /** How many items have no row yet. */
  readonly waiting: number
  /** Rebuilds the list, without ended items and with new ones. */
  show(items: readonly T[]): void
  /** Marks items as ended before the list is next read from the server. */
  end(isOver: (key: string) => boolean): void
}

/**
 * Follows a list without moving a row under the pointer.
 *
 * @param pages How many pages of the list have been read, and whether these are all of them. The items of a further page
 * are added at the end.
 */
export function useStillRows<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  { pages = 1, isWhole = true } = {},
): StillRows<T> {
  const [last, setLast] = useState({ items, pages })
  const [rows, setRows] = useState(() => rowsOf(items, keyOf))
  const newest = last.items === items ? undefined : rowsOf(items, keyOf)
  if (newest) {
    const followed = followRows(rows, newest, isWhole)
    setLast({ items, pages })
    setRows(pages > last.pages ? [...followed, ...missingRows(followed, newest)] : followed)
  }
  return {
    rows,
    waiting: missingRows(rows, rowsOf(last.items, keyOf)).length,
    show: (list) => setRows(rowsOf(list, keyOf)),
    end: (isOver) => setRows((current) => endRows(current, isOver)),
  }
}
