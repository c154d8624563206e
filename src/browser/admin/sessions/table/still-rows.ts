/** A row of a list that keeps its place. */
export interface StillRow<T> {
  readonly key: string
  readonly item: T
  readonly isEnded: boolean
}

/** Converts items to rows. */
export function rowsOf<T>(items: readonly T[], keyOf: (item: T) => string): readonly StillRow<T>[] {
  return items.map((item) => ({ key: keyOf(item), item, isEnded: false }))
}

/**
 * Updates rows without moving any, and adds none. Unchanged rows stay the same objects, so that they are not rendered
 * again.
 *
 * @param isWhole Whether a row that is missing from `newest` has ended. Otherwise, it may be on a later page.
 */
export function followRows<T>(
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

/** Marks rows as ended. */
export function endRows<T>(rows: readonly StillRow<T>[], isOver: (key: string) => boolean): readonly StillRow<T>[] {
  return rows.map((row) => (isOver(row.key) ? { ...row, isEnded: true } : row))
}

/** Returns the rows of `newest` that `rows` does not have. */
export function missingRows<T>(rows: readonly StillRow<T>[], newest: readonly StillRow<T>[]): readonly StillRow<T>[] {
  const shown = new Set(rows.map(({ key }) => key))
  return newest.filter(({ key }) => !shown.has(key))
}

function isSame<T>(one: T, other: T): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
