import '../../styles/lists.css'
import '../../styles/tables.css'
import { Fragment, type MouseEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Pending } from '../../parts/feedback.tsx'
import { type Read, useFailureText, useOnline, useSignedIn } from '../../rest/use-rest.ts'
import { LIST_TEXTS } from '../../texts/list-texts.ts'
import { addTexts, type TextKey, useTexts } from '../../texts/use-texts.ts'
import { dateAndTime, exactTime } from '../time-words.ts'

addTexts(LIST_TEXTS)

/**
 * Renders a table in its card. New rows wait until the user clicks a button above the table, so that no row moves by
 * itself.
 */
export function TableCard({
  hasFailed,
  selected,
  state,
  news,
  onShow,
  actions,
  children,
}: {
  /** Whether the last refresh of the list failed. */
  hasFailed: boolean
  /** What is selected, in words. A bar in place of the header shows it, with the actions. */
  selected?: string | false
  /** Must change whenever rows move, because clicks right after that are ignored. */
  state: string
  /** Text of the button that shows new rows, or false for no button. */
  news: string | false
  onShow: () => void
  actions?: ReactNode
  children: ReactNode
}) {
  const card = useRef<HTMLDivElement>(null)
  const hasShown = useRef(false)
  const keepSteady = useSteadyClicks(state)
  useEffect(() => {
    // The button is gone, and what it has shown begins with the first row.
    if (hasShown.current) card.current?.querySelector<HTMLElement>('[data-row]')?.focus({ preventScroll: true })
    hasShown.current = false
  })
  function show({ detail }: MouseEvent): void {
    hasShown.current = true
    onShow()
    if (detail === 0) card.current?.scrollIntoView({ block: 'start' })
  }
  return (
    <div ref={card} className={hasFailed ? 'table-card stale' : 'table-card'} onClickCapture={keepSteady}>
      <div className={selected ? 'table-bar chosen' : 'table-bar'}>
        <div>
          <p role="status">{selected}</p>
          {selected && <div className="actions">{actions}</div>}
        </div>
      </div>
      <div className="news" role="status">
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

/** Renders a list that is read page by page, or why there is none, below the line with the search. */
export function ListFrame<T>({
  list,
  also,
  view,
  failed,
  line,
  summary,
  children,
}: {
  list: Read<T>
  /** What else must be up to date, if the page shows more than the list. */
  also?: Read<unknown> | undefined
  /** What the list shows. Its rows keep their places until this changes or the user refreshes the list. */
  view: object
  /** The text that says that the list could not be loaded. */
  failed: TextKey
  /** The search and the filters. */
  line: ReactNode
  /** Shown above the list. */
  summary?: ReactNode
  children: (pages: readonly T[]) => ReactNode
}) {
  const [refreshes, setRefreshes] = useState(0)
  const { at } = list
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the list could be read, the server answers again.
  useEffect(() => {
    if (also?.error) void also.read()
  }, [at])
  return (
    <>
      <div className="search-line">
        {line}
        <Live list={list} also={also} onRefresh={() => setRefreshes(refreshes + 1)} />
      </div>
      {summary}
      {list.pages === undefined ? (
        <Pending of={list} what={failed} />
      ) : (
        <Fragment key={`${JSON.stringify(view)} ${refreshes}`}>{children(list.pages)}</Fragment>
      )}
    </>
  )
}

/** Renders a button that refreshes a list, and says whether it is up to date. If not, it stays in view with the reason. */
export function Live<T>({
  list: { at, error: failure, read },
  also,
  onRefresh,
}: {
  /** Result of the query that reads the list. */
  list: Read<T>
  also?: Read<unknown> | undefined
  /** Shows the refreshed list, without ended rows. */
  onRefresh: (pages: readonly T[]) => void
}) {
  const t = useTexts()
  const isSignedIn = useSignedIn() === 'yes'
  const isOnline = useOnline()
  const textOf = useFailureText()
  const error = failure ?? also?.error
  // Nothing is live before there is any data.
  const isKnown = at > 0
  // If the list was never read, its place shows the reason.
  const isStale = isKnown && isSignedIn && (!isOnline || error !== undefined)
  const refresh = () => {
    void also?.read()
    void read().then((pages) => pages && onRefresh(pages))
  }
  function state(): string {
    const when = { when: dateAndTime(at) }
    return isOnline ? `${t('not_updated', when)} ${textOf(error)}` : t('offline', when)
  }
  return (
    <div className={isStale ? 'live stale' : isKnown ? 'live known' : 'live'}>
      <span role="status">{isStale && state()}</span>
      {/* On paper, "2 minutes ago" needs an exact time. */}
      <small>{isKnown && exactTime(at)}</small>
      <button
        type="button"
        title={t('refresh')}
        aria-disabled={!isOnline || undefined}
        onClick={() => isOnline && refresh()}
      >
        {isKnown && !isStale ? t('up_to_date') : t(isKnown || error ? 'refresh' : 'loading')}
        {isKnown && !isStale && <span className="unseen">: {t('refresh')}</span>}
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
function useSteadyClicks(state: string): (event: MouseEvent) => void {
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
