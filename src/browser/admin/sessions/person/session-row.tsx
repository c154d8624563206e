import { Fragment, type InputHTMLAttributes, memo, useState } from 'react'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { useCopy } from '../../parts/use-copy.ts'
import { useOnline } from '../../rest/use-rest.ts'
import { touchEvery } from '../../screen.ts'
import type { TextKey } from '../../texts/use-texts.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { IpAddress, Moment } from '../table/cells.tsx'
import type { StillRow } from '../table/rows.ts'
import { exactTime, timeSpan, timeUntil } from '../time-words.ts'
import type { Device, Session } from '../use-sessions.ts'

/** Name and icon of each kind of device. */
const DEVICE_KINDS: Readonly<Record<Device['kind'], { readonly text: TextKey; readonly icon: IconName }>> = {
  computer: { text: 'kind_desktop', icon: 'desktop' },
  phone: { text: 'kind_mobile', icon: 'mobile' },
  tablet: { text: 'kind_tablet', icon: 'tablet' },
  tv: { text: 'kind_tv', icon: 'desktop' },
  program: { text: 'kind_bot', icon: 'program' },
  unknown: { text: 'kind_unknown', icon: 'unknown' },
}

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
  const [isOpen, setOpen] = useState(false)
  const { text, icon } = DEVICE_KINDS[session.device.kind]
  const device = session.device.name ?? t('device_unknown')
  const tabIndex = isCurrent ? 0 : -1
  return (
    <tr
      className={isEnded ? 'ended' : undefined}
      tabIndex={tabIndex}
      data-row={session.token}
      aria-selected={isSelected}
    >
      <td className="cell-check">
        <RowBox
          aria-label={t('select_one', { device })}
          tabIndex={tabIndex}
          checked={isSelected}
          disabled={isEnded}
          onChoose={(isRange) => onSelect(session, isRange)}
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
            {t(text)} {session.current && !isEnded && <span className="badge accent">{t('you')}</span>}{' '}
            <Terms session={session} />
          </p>
        </div>
      </td>
      <td className="cell-from">
        {session.place && <span>{session.place}</span>}
        <span className="number">
          <bdi>{session.ip === null ? t('ip_unknown') : <IpAddress ip={session.ip} />}</bdi>
        </span>
      </td>
      <TimeCells session={session} />
      <td className="cell-act">
        {isEnded ? (
          <span className="over">{t('ended')}</span>
        ) : (
          <EndButton device={device} tabIndex={tabIndex} isEnding={isEnding} onEnd={() => onEnd(session)} />
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

/** Renders what is special about a session: its label, that it does not count, and who acts in it. */
function Terms({ session: { label, counts, actor, bound } }: { session: Session }) {
  const t = useTexts()
  const words = [
    label,
    actor !== null && t('acting', { name: String(actor) }),
    !counts && t('uncounted'),
    bound && t('bound'),
  ]
  return words.map(
    (word) =>
      word && (
        <Fragment key={word}>
          <bdi className="badge">{word}</bdi>{' '}
        </Fragment>
      ),
  )
}

/**
 * Renders the cells with times. A narrow screen shows only the first. Memoized, so that a selection does not render
 * them again.
 */
const TimeCells = memo(function TimeCells({ session: { last_seen, created, expires } }: { session: Session }) {
  const t = useTexts()
  return (
    <>
      <td className="cell-used">
        <span className="small-only">{t('used')} </span>
        <Moment seconds={last_seen} />
        <span className="small-only">
          {' · '}
          {t('signed_in_small')} <Moment seconds={created} />
        </span>
      </td>
      <td className="cell-since">
        <Moment seconds={created} />
      </td>
      <td className="cell-until">
        <Moment seconds={expires} words={timeUntil} />
      </td>
    </>
  )
})

function EndButton({
  device,
  tabIndex,
  isEnding,
  onEnd,
}: {
  device: string
  tabIndex: number
  isEnding: boolean
  onEnd: () => void
}) {
  const t = useTexts()
  const isOnline = useOnline()
  return (
    <button
      type="button"
      className="row-end"
      tabIndex={tabIndex}
      aria-label={isEnding ? undefined : t('end_one_named', { device })}
      aria-disabled={!isOnline || undefined}
      aria-busy={isEnding || undefined}
      onClick={() => isOnline && !isEnding && onEnd()}
    >
      {t(isEnding ? 'end_one_busy' : 'end_one')}
    </button>
  )
}

function RowBox({
  onChoose,
  ...props
}: InputHTMLAttributes<HTMLInputElement> & { checked: boolean; onChoose: (isRange: boolean) => void }) {
  return (
    <input
      {...props}
      type="checkbox"
      onMouseDown={(event) => {
        // Otherwise, the browser would select text up to here.
        if (event.shiftKey) event.preventDefault()
      }}
      onClick={({ currentTarget, shiftKey }) => {
        // Undo the click, because the maximum may already be selected.
        currentTarget.checked = props.checked
        onChoose(shiftKey)
      }}
    />
  )
}

/** How many digits of a token are enough to identify a session in a log. */
const DIGITS = 8

/** Renders the details of a session for which its row has no room. */
function SessionDetails({ session, tabIndex }: { session: Session; tabIndex: number }) {
  const t = useTexts()
  const copy = useCopy()
  const { last_seen, created, expires } = session
  const lastUse = exactTime(last_seen * 1000)
  const facts = [
    [
      'last_used',
      touchEvery >= 1000 ? t('last_used_or_later', { when: lastUse, time: timeSpan(touchEvery) }) : lastUse,
    ],
    ['signed_in', exactTime(created * 1000)],
    ['expires', exactTime(expires * 1000)],
    ['remembered', t('remembered_for', { time: timeSpan((expires - last_seen) * 1000) })],
  ] as const
  const digits = session.token.slice(0, DIGITS)
  return (
    <dl>
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{t(label)}</dt>
          <dd className="number">{value}</dd>
        </div>
      ))}
      <div>
        <dt>{t('session_id')}</dt>
        <dd>
          <code>{digits}</code>{' '}
          <button
            type="button"
            className="link"
            tabIndex={tabIndex}
            aria-label={t('session_id_copy')}
            onClick={() => void copy(digits)}
          >
            {t('s_copy')}
          </button>
        </dd>
      </div>
      <div className="whole">
        <dt>{t('user_agent')}</dt>
        <dd>
          <bdi>{session.user_agent ?? t('ip_unknown')}</bdi>
        </dd>
      </div>
      {session.same_browser !== null && <p className="whole">{t('same_browser')}</p>}
    </dl>
  )
}
