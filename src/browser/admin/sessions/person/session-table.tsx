import { useRef } from 'react'
import { LastEnd } from '../../activity/last-end.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/feedback/empty.tsx'
import { type TextKey, useTexts } from '../../texts/use-texts.ts'
import { GridTable } from '../table/grid-table.tsx'
import type { StillRow } from '../table/still-rows.ts'
import { useRowCount } from '../table/use-row-count.ts'
import { useRowKeys } from '../table/use-row-keys.ts'
import { useSlices } from '../table/use-slices.ts'
import { nameOf, type Person, type Session } from '../use-sessions.ts'
import { SessionRow } from './session-row.tsx'
import type { SessionSort, SortTime } from './session-sort.ts'
import { MOST_AT_ONCE } from './use-end-sessions.ts'
import type { Selection } from './use-selection.ts'

/** How many rows are added at a time. */
const STEP = 50

const TIMES: readonly (readonly [by: SortTime, text: TextKey])[] = [
  ['last_seen', 'last_used'],
  ['created', 'signed_in'],
  ['expires', 'expires_in'],
]

/** Renders a user's sessions as a table that the arrow keys move in. */
export function SessionTable({
  user,
  rows,
  waiting,
  sort,
  selection,
  isEnding,
  onSort,
  onEnd,
  onDelete,
}: {
  user: Person
  rows: readonly StillRow<Session>[]
  /** How many sessions have no row yet. */
  waiting: number
  sort: SessionSort
  selection: Selection
  isEnding: (session: Session) => boolean
  onSort: (sort: SessionSort) => void
  onEnd: (session: Session) => void
  onDelete: (session: Session) => void
}) {
  const t = useTexts()
  const name = nameOf(user)
  const [most, show] = useRowCount(STEP)
  const shown = rows.slice(0, most)
  const drawn = useSlices(shown.length)
  const live = shown.filter(({ isEnded }) => !isEnded).map(({ item }) => item)
  const keys = useRowKeys(
    shown.map(({ key }) => key),
    (token) => {
      const session = live.find((one) => one.token === token)
      if (session) onDelete(session)
    },
  )
  if (rows.length === 0) {
    if (waiting > 0) return null
    return (
      <Empty icon="desktop" title={t('person_empty', { name })}>
        {t('sessions_empty')}
        <LastEnd user={user} />
      </Empty>
    )
  }
  return (
    <>
      <GridTable
        label={t('sessions_of', { name })}
        className="session-table"
        keys={keys}
        head={
          <>
            <th className="cell-check">
              <SelectAll live={live} selection={selection} />
            </th>
            <th>{t('device')}</th>
            <th>{t('from')}</th>
            {TIMES.map(([by, text]) => {
              const isSorted = sort.by === by
              return (
                <th key={by} aria-sort={isSorted ? (sort.isAscending ? 'ascending' : 'descending') : undefined}>
                  <button type="button" onClick={() => onSort({ by, isAscending: isSorted && !sort.isAscending })}>
                    {t(text)}
                    {isSorted && <span aria-hidden="true"> {sort.isAscending ? '↑' : '↓'}</span>}
                  </button>
                </th>
              )
            })}
            <th>
              <span className="unseen">{t('end_one')}</span>
            </th>
          </>
        }
      >
        {shown.slice(0, drawn).map((row) => (
          <SessionRow
            key={row.key}
            row={row}
            isEnding={isEnding(row.item)}
            isSelected={selection.tokens.has(row.key) && !row.isEnded}
            isCurrent={keys.current === row.key}
            onSelect={selection.toggle}
            onEnd={onEnd}
          />
        ))}
      </GridTable>
      {rows.length > STEP && drawn >= STEP && (
        <MoreRows shown={shown.length} count={rows.length} onMore={() => show(most + STEP)} />
      )}
    </>
  )
}

/** Renders the box that selects as many of the rows as one call can end, or none. */
function SelectAll({ live, selection }: { live: readonly Session[]; selection: Selection }) {
  const t = useTexts()
  const selected = live.filter(({ token }) => selection.tokens.has(token)).length
  const isAll = live.length > 0 && selected === live.length
  return (
    <input
      type="checkbox"
      aria-label={t('select_all')}
      checked={isAll}
      disabled={live.length === 0}
      ref={(box) => {
        if (box) box.indeterminate = selected > 0 && !isAll
      }}
      onChange={() => selection.become(isAll || selected >= MOST_AT_ONCE ? [] : live)}
    />
  )
}

/** Renders how many rows are shown, and the button for more. */
function MoreRows({ shown, count, onMore }: { shown: number; count: number; onMore: () => void }) {
  const t = useTexts()
  const status = useRef<HTMLParagraphElement>(null)
  const step = Math.min(STEP, count - shown)
  return (
    <p className="more-rows" ref={status} tabIndex={-1}>
      {t('shown_of', { shown, count })}
      {step > 0 && (
        <Button
          tone="quiet"
          onClick={() => {
            onMore()
            // This button disappears with the last rows.
            if (shown + step === count) status.current?.focus({ preventScroll: true })
          }}
        >
          {t('show_more', { count: step })}
        </Button>
      )}
    </p>
  )
}
