import { useState } from 'react'
import { place } from '../../screen.ts'

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
 * Returns rows that follow a list, but never move under the pointer.
 *
 * @param pages How many pages of the list have been read, and whether these are all of them. The items of a further
 * page are added at the end; new items before the last row wait.
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
    setRows(pages > last.pages ? [...followed, ...laterRows(followed, newest)] : followed)
  }
  return {
    rows,
    waiting: missingRows(rows, rowsOf(last.items, keyOf)).length,
    show: (list) => setRows((current) => sameRows(current, rowsOf(list, keyOf))),
    end: (isOver) => setRows((current) => endRows(current, isOver)),
  }
}

/** A row of a list that keeps its place. */
export interface StillRow<T> {
  readonly key: string
  readonly item: T
  readonly isEnded: boolean
}

/** Converts items to rows. */
function rowsOf<T>(items: readonly T[], keyOf: (item: T) => string): readonly StillRow<T>[] {
  return items.map((item) => ({ key: keyOf(item), item, isEnded: false }))
}

/**
 * Updates rows without moving or adding any. Unchanged rows stay the same objects, so that they are not rendered again.
 *
 * @param isWhole Whether a row that is missing from `newest` has ended. Otherwise, it may be on a later page.
 */
function followRows<T>(
  rows: readonly StillRow<T>[],
  newest: readonly StillRow<T>[],
  isWhole = true,
): readonly StillRow<T>[] {
  const live = new Map(newest.map((row) => [row.key, row]))
  return rows.map((row) => {
    const found = live.get(row.key)
    if (row.isEnded || isSame(found, row)) return row
    return found ?? (isWhole ? { ...row, isEnded: true } : row)
  })
}

/** Returns `newest`, but with the old objects for unchanged rows. */
function sameRows<T>(rows: readonly StillRow<T>[], newest: readonly StillRow<T>[]): readonly StillRow<T>[] {
  const known = new Map(rows.map((row) => [row.key, row]))
  return newest.map((row) => {
    const before = known.get(row.key)
    return before?.item === row.item && !before.isEnded ? before : row
  })
}

/** Marks rows as ended. */
function endRows<T>(rows: readonly StillRow<T>[], isOver: (key: string) => boolean): readonly StillRow<T>[] {
  return rows.map((row) => (isOver(row.key) ? { ...row, isEnded: true } : row))
}

/** Returns the rows of `newest` that `rows` does not have. */
function missingRows<T>(rows: readonly StillRow<T>[], newest: readonly StillRow<T>[]): readonly StillRow<T>[] {
  const shown = new Set(rows.map(({ key }) => key))
  return newest.filter(({ key }) => !shown.has(key))
}

/** Returns the rows of `newest` after the last one that `rows` has. */
function laterRows<T>(rows: readonly StillRow<T>[], newest: readonly StillRow<T>[]): readonly StillRow<T>[] {
  const shown = new Set(rows.map(({ key }) => key))
  return newest.slice(newest.findLastIndex(({ key }) => shown.has(key)) + 1)
}

function isSame<T>(one: T, other: T): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
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
