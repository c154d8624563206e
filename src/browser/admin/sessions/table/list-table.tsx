import {
  type FocusEvent,
  type KeyboardEvent,
  memo,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { Button } from '../../parts/button.tsx'
import { place } from '../../screen.ts'
import { wasFocused } from '../../shell/kept-place.ts'
import { useTexts } from '../../texts/use-texts.ts'
import type { StillRow } from './rows.ts'

/**
 * Renders a list as a table whose rows take the focus. Its `grid` role makes screen readers pass arrow keys to the
 * page.
 */
export function ListTable<T>({
  label,
  className,
  head,
  rows,
  children,
  onDelete,
  more,
}: {
  label: string
  className: string
  /** The header cells. */
  head: ReactNode
  rows: readonly StillRow<T>[]
  /** Renders a row. Tab reaches only the current one. */
  children: RenderRow<T>
  /** Called when Delete is pressed on a row that has not ended. */
  onDelete?: (item: T) => void
  /** Shown below the rows. */
  more: ReactNode
}) {
  const [drawn, drawAll] = useSlices(rows.length, () => 1 + rows.findIndex(({ key }) => wasFocused(key)))
  const keys = useRowKeys(
    rows.map(({ key }) => key),
    (key) => {
      const row = rows.find((one) => one.key === key)
      if (row && !row.isEnded) onDelete?.(row.item)
    },
  )
  const table = useRef<HTMLTableElement>(null)
  const lastKey = useRef<string>(undefined)
  // In the same task, because the button may be gone.
  useLayoutEffect(() => {
    // The focus follows from the button that shows more rows to the first of them.
    const next = lastKey.current && rows[rows.findIndex(({ key }) => key === lastKey.current) + 1]
    const row = next && table.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(next.key)}"]`)
    if (!row) return
    lastKey.current = undefined
    if (!document.activeElement?.matches('body, .more-rows *')) return
    row.focus({ preventScroll: true })
    row.scrollIntoView({ block: 'nearest' })
  })
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table is what ARIA suggests for a grid. */}
      <table role="grid" ref={table} className={className} aria-label={label} {...keys.table}>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>
          {Array.from({ length: Math.ceil(drawn / PAGE) }, (_, index) => {
            const block = rows.slice(index * PAGE, Math.min((index + 1) * PAGE, drawn))
            const hasCurrent = block.some(({ key }) => key === keys.current)
            return (
              <Block
                // biome-ignore lint/suspicious/noArrayIndexKey: rows move between blocks, and blocks stay.
                key={index}
                rows={block}
                before={rows[index * PAGE - 1]}
                current={hasCurrent ? keys.current : undefined}
                render={children}
              />
            )
          })}
        </tbody>
      </table>
      {drawn >= Math.min(PAGE, rows.length) && (
        // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the button inside is pressed.
        <div
          onClick={() => {
            lastKey.current = rows.at(-1)?.key
            drawAll()
          }}
        >
          {more}
        </div>
      )}
    </>
  )
}

type RenderRow<T> = (row: StillRow<T>, isCurrent: boolean, before: StillRow<T> | undefined) => ReactNode

interface BlockProps<T> {
  readonly rows: readonly StillRow<T>[]
  readonly before: StillRow<T> | undefined
  readonly current: string | undefined
  readonly render: RenderRow<T>
}

/** Renders some rows. Blocks that have not changed are skipped, because a list can have hundreds of rows. */
const Block = memo(
  function Block({ rows, before, current, render }: BlockProps<unknown>) {
    return rows.map((row, at) => render(row, row.key === current, rows[at - 1] ?? before))
  },
  (last, next) =>
    last.render === next.render &&
    last.current === next.current &&
    last.before === next.before &&
    last.rows.length === next.rows.length &&
    last.rows.every((row, at) => row === next.rows[at]),
) as <T>(props: BlockProps<T>) => ReactNode

/** How many rows a list begins with, and how many are rendered in one task, so that a slow device stays responsive. */
const PAGE = 50
const SLICE = 5

/**
 * Returns how many of `count` rows to render now, and a function that renders them all. At first, a few more at a time,
 * after what is around them; the first of further rows at once. After Back, all of them at once, because browsers restore
 * the scroll position only if the rows exist.
 *
 * @param first How many rows to begin with.
 */
function useSlices(count: number, first: () => number): [drawn: number, drawAll: () => void] {
  const [before, setBefore] = useState(() => (place.isBack() ? count : first() - SLICE))
  useEffect(() => {
    if (before >= count) return undefined
    const timer = setTimeout(() => setBefore(Math.min(before + SLICE, count)))
    return () => clearTimeout(timer)
  }, [before, count])
  return [Math.min(before + SLICE, count), () => setBefore(count)]
}

/** Renders a header cell that sorts the table. */
export function SortHead({
  label,
  title,
  order,
  onSort,
}: {
  label: string
  /** Names the order, if the label does not. */
  title?: string
  /** How the table is sorted by this column, if it is. */
  order: 'ascending' | 'descending' | undefined
  onSort: () => void
}) {
  return (
    <th aria-sort={order}>
      <button data-place={`${label} ${title}`} type="button" title={title} onClick={onSort}>
        {label} <span aria-hidden="true">{order ? (order === 'ascending' ? '↑' : '↓') : '↕'}</span>
      </button>
    </th>
  )
}

/** Renders how many rows are shown, and the button that shows more. */
export function MoreRows({
  children,
  label,
  isBusy = false,
  onMore,
}: {
  /** How many rows are shown, in words. */
  children?: ReactNode
  /** Label of the button. */
  label: string | false
  isBusy?: boolean
  onMore: () => void
}) {
  const t = useTexts()
  return (
    <p className="more-rows" tabIndex={-1}>
      {children}
      {label && (
        <Button tone="quiet" busy={isBusy && t('loading')} onClick={onMore}>
          {label}
        </Button>
      )}
    </p>
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
 * Lets the arrow keys move between rows, so that Tab reaches only one. On a row, Enter clicks the element with
 * `data-opens`, and Space clicks the checkbox.
 *
 * @param keys Keys of the rows, as in their `data-row` attributes.
 * @param onDelete Called with the row's key when Delete is pressed.
 */
function useRowKeys(keys: readonly string[], onDelete: (key: string) => void): RowKeys {
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
      // Firefox leaves a row below the sticky heading if it was partly visible.
      rows[at]?.scrollIntoView({ block: 'nearest' })
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
