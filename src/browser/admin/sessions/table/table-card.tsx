import type { UseQueryResult } from '@tanstack/react-query'
import { type MouseEvent, type ReactNode, useLayoutEffect, useRef } from 'react'
import { useOnline, useSignedIn } from '../../rest/use-rest.ts'
import { LIST_TEXTS } from '../../texts/list-texts.ts'
import { addTexts, useTexts } from '../../texts/use-texts.ts'
import { dateAndTime, exactTime } from '../time-words.ts'

addTexts(LIST_TEXTS)

/**
 * Renders a table in its card. New rows wait until the user clicks a button above the table, so that no row moves by
 * itself.
 */
export function TableCard({
  hasFailed,
  selected,
  news,
  onShow,
  onClickCapture,
  actions,
  children,
}: {
  /** Whether the last refresh of the list failed. */
  hasFailed: boolean
  /** What is selected, in words. A bar in place of the header shows it, with the actions. */
  selected?: string | false
  /** Text of the button that shows new rows, or false for no button. */
  news: string | false
  onShow: () => void
  onClickCapture?: (event: MouseEvent) => void
  actions?: ReactNode
  children: ReactNode
}) {
  const line = useRef<HTMLDivElement>(null)
  function show(): void {
    onShow()
    // Move the focus, because the clicked button disappears.
    line.current?.focus({ preventScroll: true })
  }
  return (
    <div className={hasFailed ? 'table-card stale' : 'table-card'} onClickCapture={onClickCapture}>
      <div className={selected ? 'table-bar chosen' : 'table-bar'}>
        <div>
          <p role="status">{selected}</p>
          {selected && <div className="actions">{actions}</div>}
        </div>
      </div>
      <div className="news" role="status" ref={line} tabIndex={-1}>
        {news && (
          <button type="button" onClick={show}>
            {news}
          </button>
        )}
      </div>
      {children}
    </div>
  )
}

/** Renders a button that shows whether a list is up to date, and refreshes it. */
export function Live<T>({
  list,
  onRefresh,
}: {
  /** Result of the query that reads the list. */
  list: Pick<UseQueryResult<T>, 'error' | 'dataUpdatedAt' | 'isFetching' | 'refetch'>
  /** Shows the refreshed list, without ended rows. */
  onRefresh: (data: T) => void
}) {
  const t = useTexts()
  const isSignedIn = useSignedIn() === 'yes'
  const isOnline = useOnline()
  const isStale = isSignedIn && (!isOnline || list.error !== null)
  // Nothing is live before there is any data.
  const isKnown = list.dataUpdatedAt > 0
  // If the list was never read, its place shows the reason.
  const state = isStale && isKnown && t(isOnline ? 'not_updated' : 'offline', { when: dateAndTime(list.dataUpdatedAt) })
  return (
    <div className={isStale || !isKnown ? 'live stale' : 'live'}>
      <span role="status">{state}</span>
      {/* On paper, "2 minutes ago" needs an exact time. */}
      <small>{isKnown && exactTime(list.dataUpdatedAt)}</small>
      <button
        type="button"
        title={t('refresh')}
        aria-disabled={!isOnline || undefined}
        onClick={() => isOnline && void list.refetch().then(({ data }) => data && onRefresh(data))}
      >
        {isStale ? t('refresh') : t(isKnown ? 'up_to_date' : 'loading')}
        {!isStale && isKnown && <span className="unseen">: {t('refresh')}</span>}
      </button>
    </div>
  )
}

const PAUSE_MS = 500

/**
 * Returns a handler that ignores clicks that were probably meant for another row: the second click of a double click,
 * and clicks right after the list has changed.
 *
 * @param state Must change whenever the list does.
 */
export function useSteadyClicks(state: string): (event: MouseEvent) => void {
  const known = useRef<string>(undefined)
  const changedAt = useRef(0)
  useLayoutEffect(() => {
    // Only a change moves rows, so clicks on the first list are never ignored.
    if (known.current) changedAt.current = Date.now()
    known.current = state
  }, [state])
  return (event) => {
    const isByPointer = event.detail > 0
    if (event.detail > 1 || (isByPointer && Date.now() - changedAt.current < PAUSE_MS)) {
      event.preventDefault()
      event.stopPropagation()
    }
  }
}
