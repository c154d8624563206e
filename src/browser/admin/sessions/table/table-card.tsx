import type { UseQueryResult } from '@tanstack/react-query'
import { type MouseEvent, type ReactNode, useLayoutEffect, useRef } from 'react'
import { Button } from '../../parts/button.tsx'
import { useOnline, useSignedIn } from '../../rest/use-rest.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { dateAndTime } from '../time-words.ts'

/**
 * Renders a table in its card, below a line with the time of its data and the button that reads it again. The line keeps
 * its height, so that no row moves while a user looks at the list.
 */
export function TableCard<T>({
  list,
  isReading = list.isFetching,
  selected,
  news,
  onShow,
  onRefresh,
  onClickCapture,
  actions,
  children,
}: {
  /** The list as a query reads it. */
  list: Pick<UseQueryResult<T>, 'error' | 'dataUpdatedAt' | 'isFetching' | 'refetch'>
  isReading?: boolean
  /** What is selected, in words. */
  selected?: string | false
  /** What a click on the button would show, in words. */
  news: string | false
  onShow: () => void
  /** Shows what was read on demand, without what has ended. */
  onRefresh: (data: T) => void
  onClickCapture?: (event: MouseEvent) => void
  /** Buttons in place of the one that reads the list again. */
  actions?: ReactNode
  children: ReactNode
}) {
  const t = useTexts()
  const status = useRef<HTMLParagraphElement>(null)
  const isSignedIn = useSignedIn() === 'yes'
  const isOnline = useOnline()
  const stale = isOnline ? 'not_updated' : 'offline'
  const isStale = !isOnline || list.error !== null
  const state = isStale && isSignedIn ? t(stale, { when: dateAndTime(list.dataUpdatedAt) }) : t('up_to_date')
  const refresh = () => void list.refetch().then(({ data }) => data && onRefresh(data))
  return (
    <div className={list.error ? 'table-card stale' : 'table-card'} onClickCapture={onClickCapture}>
      <div className={selected ? 'table-bar chosen' : 'table-bar'}>
        <div>
          <p role="status" ref={status} tabIndex={-1}>
            {selected || state}
          </p>
          <p className="news" role="status">
            {news && (
              <button
                type="button"
                onClick={() => {
                  onShow()
                  // This button disappears.
                  status.current?.focus({ preventScroll: true })
                }}
              >
                {news}
              </button>
            )}
          </p>
          <div className="actions">
            {actions || (
              <Button tone="quiet" icon="refresh" busy={isReading && t('refresh')} onClick={refresh}>
                {t('refresh')}
              </Button>
            )}
          </div>
        </div>
      </div>
      {children}
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
    // Only a change moves rows, so clicks on the first list count at once.
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
