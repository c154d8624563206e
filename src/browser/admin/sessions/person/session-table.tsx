import { Suspense, useCallback, useMemo, useRef, useState } from 'react'
import { Empty } from '../../parts/feedback.tsx'
import { hasActivity, place } from '../../screen.ts'
import { latePart } from '../../shell/late-part.tsx'
import { locale } from '../../texts/locale.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { ListTable, MoreRows, SortHead } from '../table/list-table.tsx'
import { type StillRow, useRowCount, useStillRows } from '../table/rows.ts'
import { nameOf, type Person, type Session } from '../use-sessions.ts'
import { SessionRow } from './session-row.tsx'

const LastEnd = latePart(async () => (await import('../../tabs/activity-page.tsx')).LastEnd)

/** How many rows are added at a time. */
export const STEP = 50

/** The sort orders of a list, with the names of their columns. */
const ORDERS = [
  ['place', 'from'],
  ['last_seen', 'last_used'],
  ['created', 'signed_in'],
  ['expires', 'expires_in'],
] as const

/** The order of a list: descending (latest or Z first) unless `isAscending`. */
interface SessionSort {
  readonly by: (typeof ORDERS)[number][0]
  readonly isAscending: boolean
}

interface TableProps {
  user: Person
  rows: readonly StillRow<Session>[]
  /** Whether the search hides some rows. */
  isFiltered: boolean
  /** How many sessions have no row yet. */
  waiting: number
  sort: SessionSort
  selection: Selection
  isEnding: (session: Session) => boolean
  onSort: (sort: SessionSort) => void
  onEnd: (session: Session) => void
  onDelete: (session: Session) => void
}

/** Renders a user's sessions as a table with arrow-key navigation. */
export function SessionTable({
  user,
  rows,
  isFiltered,
  waiting,
  sort,
  selection,
  isEnding,
  onSort,
  onEnd,
  onDelete,
}: TableProps) {
  const t = useTexts()
  const name = nameOf(user)
  const [most, show] = useRowCount(STEP)
  const shown = rows.slice(0, most)
  const next = Math.min(STEP, rows.length - shown.length)
  const live = shown.filter(({ isEnded }) => !isEnded).map(({ item }) => item)
  if (rows.length === 0) {
    if (isFiltered) return <Empty icon="search" title={t('nothing_found')} />
    if (waiting > 0) return null
    return (
      <Empty icon="desktop" title={t('person_empty', { name })}>
        {t('sessions_empty')}
        {hasActivity && (
          <Suspense>
            <LastEnd user={user} />
          </Suspense>
        )}
      </Empty>
    )
  }
  return (
    <ListTable
      label={t('sessions_of', { name })}
      className="session-table"
      head={<SessionHead live={live} selection={selection} sort={sort} onSort={onSort} />}
      rows={shown}
      onDelete={onDelete}
      more={
        rows.length > STEP && (
          <MoreRows label={next > 0 && t('show_more', { count: next })} onMore={() => show(most + STEP)}>
            {t('shown_of', { shown: shown.length, count: rows.length })}
          </MoreRows>
        )
      }
    >
      {(row, isCurrent) => (
        <SessionRow
          key={row.key}
          row={row}
          isEnding={isEnding(row.item)}
          isSelected={selection.tokens.has(row.key) && !row.isEnded}
          isCurrent={isCurrent}
          onSelect={selection.toggle}
          onEnd={onEnd}
        />
      )}
    </ListTable>
  )
}

type HeadProps = Pick<TableProps, 'selection' | 'sort' | 'onSort'> & { readonly live: readonly Session[] }

/** Renders the header cells. A click on a column other than the device sorts by it. */
function SessionHead({ live, selection, sort, onSort }: HeadProps) {
  const t = useTexts()
  return (
    <>
      <th className="cell-check">
        <SelectAll live={live} selection={selection} />
      </th>
      <th>{t('device')}</th>
      {ORDERS.map(([by, text]) => {
        const isSorted = sort.by === by
        return (
          <SortHead
            key={by}
            label={t(text)}
            order={isSorted ? (sort.isAscending ? 'ascending' : 'descending') : undefined}
            onSort={() => onSort({ by, isAscending: isSorted ? !sort.isAscending : by === 'place' })}
          />
        )
      })}
      <th>
        <span className="unseen">{t('end_one')}</span>
      </th>
    </>
  )
}

/** Renders the checkbox that selects or deselects all visible rows. */
function SelectAll({ live, selection }: Pick<HeadProps, 'live' | 'selection'>) {
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
      onChange={() => selection.become(isAll ? [] : live)}
    />
  )
}

/** The selected sessions. */
interface Selection {
  readonly tokens: ReadonlySet<string>
  /** Selects or deselects a session. With `isRange`, also all sessions between it and the last one toggled. */
  toggle(session: Session, isRange: boolean): void
  /** Selects only these sessions. */
  become(sessions: readonly Session[]): void
}

/** Keeps track of the selected sessions. `sessions` are the selectable sessions, in the order of the rows. */
export function useSelection(sessions: readonly Session[]): Selection {
  const [tokens, setTokens] = useState<ReadonlySet<string>>(new Set())
  const list = useRef(sessions)
  list.current = sessions
  const previous = useRef<string>(undefined)
  const toggle = useCallback(({ token }: Session, isRange: boolean) => {
    const range = isRange ? between(list.current, previous.current, token) : [token]
    previous.current = token
    setTokens((current) => {
      const next = new Set(current)
      for (const one of range) {
        if (current.has(token)) next.delete(one)
        else next.add(one)
      }
      return next
    })
  }, [])
  return {
    tokens,
    toggle,
    become: (chosen) => setTokens(new Set(chosen.map(({ token }) => token))),
  }
}

/** Returns the tokens of two sessions and all between them, whichever of the two comes first. */
function between(sessions: readonly Session[], one: string | undefined, other: string): readonly string[] {
  const all = sessions.map(({ token }) => token)
  const [start = 0, end = 0] = [all.indexOf(one ?? other), all.indexOf(other)].toSorted(
    (first, second) => first - second,
  )
  return start < 0 ? [other] : all.slice(start, end + 1)
}

/** Returns the rows of a user's sessions, in an order that the URL keeps. */
export function useSortedRows(sessions: readonly Session[]) {
  const [sort, setSort] = useState(() => sortIn(new URLSearchParams(place.query())))
  const list = useMemo(() => sorted(sessions, sort), [sessions, sort])
  const rows = useStillRows(list, ({ token }) => token)
  return {
    ...rows,
    sort,
    show: (newest: readonly Session[]) => rows.show(sorted(newest, sort)),
    /** Rebuilds the list in this order. */
    sortBy(order: SessionSort) {
      setSort(order)
      place.amendQuery({ sort: order.by, order: order.isAscending ? 'ascending' : undefined })
      rows.show(sorted(sessions, order))
    },
  }
}

/** Returns the sessions in this order. */
function sorted(sessions: readonly Session[], { by, isAscending }: SessionSort): readonly Session[] {
  const sign = isAscending ? 1 : -1
  if (by !== 'place') return sessions.toSorted((one, other) => sign * (one[by] - other[by]))
  const { compare } = new Intl.Collator(locale, { numeric: true })
  const from = ({ place, ip }: Session) => `${place ?? ''} ${ip ?? ''}`
  return sessions.toSorted((one, other) => sign * compare(from(one), from(other)))
}

/** Returns the order in the URL's query, or else the last used first. */
function sortIn(query: URLSearchParams): SessionSort {
  const by = ORDERS.find(([order]) => order === query.get('sort'))?.[0] ?? 'last_seen'
  return { by, isAscending: query.get('order') === 'ascending' }
}
