import { useEffect, useState } from 'react'
import { isSame } from '../../options/option-draft.ts'
import type { Read } from '../../rest/use-rest.ts'
import { place } from '../../screen.ts'

/** A row of a list that keeps its place. */
export interface StillRow<T> {
  readonly key: string
  readonly item: T
  readonly isEnded: boolean
}

/** The visible rows, which keep their places while items come and go. */
interface StillRows<T> {
  readonly rows: readonly StillRow<T>[]
  /** How many items have no row yet. */
  readonly waiting: number
  /** Rebuilds the list, without ended items and with new ones. */
  show(items: readonly T[]): void
  /** Marks items as ended without waiting for the next read from the server. */
  end(isOver: (key: string) => boolean): void
}

/**
 * Returns rows that follow a list, but never move under the pointer. Unchanged rows stay the same objects, so that they
 * are not rendered again.
 *
 * @param pages How many pages of the list have been read, and whether these are all of them. The items of a further
 * page are added at the end; new items before the last row wait. A row that is missing has ended if these are all.
 */
export function useStillRows<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  { pages = 1, isWhole = true } = {},
): StillRows<T> {
  const rowsOf = (all: readonly T[], known: readonly StillRow<T>[] = []) => {
    const before = new Map(known.map((row) => [row.key, row]))
    return all.map((item): StillRow<T> => {
      const row = before.get(keyOf(item))
      const isKnown = row && !row.isEnded && isSame(row.item, item)
      return isKnown ? row : { key: keyOf(item), item, isEnded: false }
    })
  }
  const [last, setLast] = useState({ items, pages })
  const [rows, setRows] = useState(() => rowsOf(items))
  const shown = new Set(rows.map(({ key }) => key))
  if (last.items !== items) {
    const newest = rowsOf(items, rows)
    const live = new Map(newest.map((row) => [row.key, row]))
    const followed = rows.map((row) => {
      if (row.isEnded) return row
      return live.get(row.key) ?? (isWhole ? { ...row, isEnded: true } : row)
    })
    const later = pages > last.pages ? newest.slice(newest.findLastIndex(({ key }) => shown.has(key)) + 1) : []
    setLast({ items, pages })
    setRows([...followed, ...later])
  }
  // What follows the last row of an incomplete list has only moved up.
  const end =
    isWhole || shown.size === 0 ? last.items.length : last.items.findLastIndex((item) => shown.has(keyOf(item)))
  return {
    rows,
    waiting: last.items.slice(0, end).filter((item) => !shown.has(keyOf(item))).length,
    show: (all) => setRows((current) => rowsOf(all, current)),
    end: (isOver) => setRows((current) => current.map((row) => (isOver(row.key) ? { ...row, isEnded: true } : row))),
  }
}

/** The most rows that a URL can ask for. */
const MOST = 1000

/** Returns how many rows to show, and a function that changes it. The URL keeps the number, for Back and reload. */
export function useRowCount(first: number): readonly [count: number, show: (count: number) => void] {
  const [count, setCount] = useState(() => {
    const asked = Number(new URLSearchParams(place.query()).get('rows'))
    return Math.max(first, Math.min(Math.trunc(asked) || 0, MOST))
  })
  return [
    count,
    (next) => {
      setCount(next)
      place.amendQuery({ rows: String(next) })
    },
  ]
}

/**
 * Reads further pages of a list until it has as many rows as the URL asks for.
 *
 * @param rows How many rows the list shows. The server may find none among those that it checks for a page.
 * @returns Props of the button that shows more rows.
 */
export function useMorePages(
  { error, hasMore, readMore, isReadingMore }: Read<unknown>,
  { rows, pages, size }: Readonly<Record<'rows' | 'pages' | 'size', number>>,
) {
  const [count, show] = useRowCount(size)
  const isShort = hasMore && (rows === 0 || pages * size < count)
  useEffect(() => {
    if (isShort && !isReadingMore && !error) readMore()
  }, [isShort, isReadingMore, error, readMore])
  return {
    isBusy: isReadingMore,
    onMore() {
      show((pages + 1) * size)
      // After a failure, only this call retries.
      readMore()
    },
  }
}
