import { type FocusEvent, type KeyboardEvent, type ReactNode, useState } from 'react'

/** Renders a table whose rows take the focus. Its role makes screen readers pass the arrow keys on. */
export function GridTable({
  label,
  className,
  keys,
  head,
  children,
}: {
  label: string
  className: string
  keys: RowKeys
  /** The cells of the heading. */
  head: ReactNode
  /** The rows. */
  children: ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table is what ARIA suggests for a grid.
    <table role="grid" className={className} aria-label={label} {...keys.table}>
      <thead>
        <tr>{head}</tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

/** Handlers for a table whose rows take the focus, and the row that Tab reaches. */
interface RowKeys {
  readonly current: string | undefined
  readonly table: {
    onKeyDown(event: KeyboardEvent<HTMLElement>): void
    onFocus(event: FocusEvent<HTMLElement>): void
  }
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/**
 * Lets the arrow keys move between rows, so that Tab reaches only one. On a row, Enter presses the element with
 * `data-opens`, and Space the checkbox.
 *
 * @param keys Keys of the rows, which have them as `data-row`.
 * @param onDelete Called with the row's key when Delete is pressed.
 */
export function useRowKeys(keys: readonly string[], onDelete: (key: string) => void): RowKeys {
  const [last, setLast] = useState<string>()
  const current = last !== undefined && keys.includes(last) ? last : keys[0]

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const row = rowOf(event.target)
    const key = row?.dataset.row
    if (!row || key === undefined) return
    const step = STEPS[event.key]
    if (step !== undefined) {
      const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')]
      const at = Math.min(Math.max(rows.indexOf(row) + step, 0), rows.length - 1)
      event.preventDefault()
      rows[at]?.focus()
    } else if (event.key === 'Delete') {
      event.preventDefault()
      onDelete(key)
    } else if (event.target === row && (event.key === 'Enter' || event.key === ' ')) {
      const control = event.key === 'Enter' ? '[data-opens]' : '[type=checkbox]'
      event.preventDefault()
      row.querySelector<HTMLElement>(control)?.click()
    }
  }

  return { current, table: { onKeyDown, onFocus: ({ target }) => setLast(rowOf(target)?.dataset.row ?? last) } }
}

function rowOf(target: EventTarget): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null
}
