import { memo, useEffect, useRef, useState } from 'react'
import { Icon } from '../../parts/icon.tsx'
import { useOnline } from '../../rest/use-online.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { DEVICE_KINDS } from '../device.ts'
import { IpAddress } from '../ip-address.tsx'
import { Moment } from '../moment.tsx'
import type { StillRow } from '../table/still-rows.ts'
import { agoOrDay, timeUntil } from '../time-words.ts'
import type { Session } from '../use-sessions.ts'
import { SessionDetails } from './session-details.tsx'

/** The state of a row, and what its controls do. */
interface SessionRowProps {
  readonly row: StillRow<Session>
  readonly isEnding: boolean
  readonly isSelected: boolean
  /** Whether Tab reaches this row. */
  readonly isCurrent: boolean
  readonly onSelect: (session: Session, isRange: boolean) => void
  readonly onEnd: (session: Session) => void
}

/**
 * Renders one session. After it ends, the row keeps its place and height. The row is rendered again only if it has
 * changed, because there can be hundreds.
 */
export const SessionRow = memo(function SessionRow({
  row: { item: session, isEnded },
  isEnding,
  isSelected,
  isCurrent,
  onSelect,
  onEnd,
}: SessionRowProps) {
  const t = useTexts()
  const isOnline = useOnline()
  const [isOpen, setOpen] = useState(false)
  const element = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    // The button that had the focus disappeared when the session ended.
    if (isEnded && document.activeElement === document.body) element.current?.focus({ preventScroll: true })
  }, [isEnded])
  const { text, icon } = DEVICE_KINDS[session.device.kind]
  const device = session.device.name ?? t('device_unknown')
  const tabIndex = isCurrent ? 0 : -1
  return (
    <tr
      className={isEnded ? 'ended' : undefined}
      ref={element}
      tabIndex={tabIndex}
      data-row={session.token}
      aria-selected={isSelected}
    >
      <td className="cell-check">
        <RowBox
          label={t('select_one', { device })}
          tabIndex={tabIndex}
          isSelected={isSelected}
          isDisabled={isEnded}
          onSelect={(isRange) => onSelect(session, isRange)}
        />
      </td>
      <td className="cell-main">
        <Icon name={icon} />
        <div>
          <button
            type="button"
            className="row-name"
            tabIndex={tabIndex}
            data-opens
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {device}
          </button>
          <p className="help">
            {t(text)} {session.current && !isEnded && <span className="badge accent">{t('you')}</span>}
          </p>
        </div>
      </td>
      <td className="cell-from">
        {session.place && <span>{session.place}</span>}
        <span className="number">
          <bdi>{session.ip === null ? t('ip_unknown') : <IpAddress ip={session.ip} />}</bdi>
        </span>
      </td>
      <td className="cell-used">
        <span className="small-only">{t('used')} </span>
        <Moment seconds={session.last_seen} />
        <span className="small-only">
          {' · '}
          {t('signed_in_small')} <Moment seconds={session.created} words={agoOrDay} />
        </span>
      </td>
      <td className="cell-since">
        <Moment seconds={session.created} words={agoOrDay} />
      </td>
      <td className="cell-until">
        <Moment seconds={session.expires} words={timeUntil} />
      </td>
      <td className="cell-act">
        {isEnded ? (
          <span className="over">{t('ended')}</span>
        ) : (
          <button
            type="button"
            className="row-end"
            tabIndex={tabIndex}
            aria-label={isEnding ? undefined : t('end_one_named', { device })}
            aria-disabled={!isOnline || undefined}
            aria-busy={isEnding || undefined}
            onClick={() => isOnline && !isEnding && onEnd(session)}
          >
            {t(isEnding ? 'end_one_busy' : 'end_one')}
          </button>
        )}
      </td>
      {isOpen && (
        <td className="cell-details">
          <SessionDetails session={session} tabIndex={tabIndex} />
        </td>
      )}
    </tr>
  )
})

function RowBox({
  label,
  tabIndex,
  isSelected,
  isDisabled,
  onSelect,
}: {
  label: string
  tabIndex: number
  isSelected: boolean
  isDisabled: boolean
  onSelect: (isRange: boolean) => void
}) {
  return (
    <input
      type="checkbox"
      tabIndex={tabIndex}
      aria-label={label}
      checked={isSelected}
      disabled={isDisabled}
      onMouseDown={(event) => {
        // The browser would select text up to here.
        if (event.shiftKey) event.preventDefault()
      }}
      onClick={({ currentTarget, shiftKey }) => {
        // There may be too many already.
        currentTarget.checked = isSelected
        onSelect(shiftKey)
      }}
    />
  )
}
