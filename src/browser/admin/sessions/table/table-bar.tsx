import { type ReactNode, useRef } from 'react'
import { useOnline } from '../../rest/use-online.ts'
import { useSignedIn } from '../../rest/use-signed-in.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { dateAndTime } from '../time-words.ts'

/**
 * Renders the line above a table, with the time of its data. It keeps its height, so that no row moves while a
 * user looks at the list.
 */
export function TableBar({
  selected,
  updatedAt,
  isFailing,
  news,
  onShow,
  children,
}: {
  /** What is selected, in words. */
  selected?: string | false
  /** When the list was last read, in milliseconds. */
  updatedAt: number
  isFailing: boolean
  /** What a click on the button would show, in words. */
  news: string | false
  onShow: () => void
  children: ReactNode
}) {
  const t = useTexts()
  const status = useRef<HTMLParagraphElement>(null)
  const isSignedIn = useSignedIn() === 'yes'
  const isOnline = useOnline()
  const stale = isOnline ? 'not_updated' : 'offline'
  const isStale = !isOnline || isFailing
  const state = isStale && isSignedIn ? t(stale, { when: dateAndTime(updatedAt) }) : t('up_to_date')
  return (
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
        <div className="actions">{children}</div>
      </div>
    </div>
  )
}
