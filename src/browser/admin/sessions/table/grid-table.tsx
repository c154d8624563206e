import type { ReactNode } from 'react'
import type { RowKeys } from './use-row-keys.ts'

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
