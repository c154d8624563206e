import { memo, useEffect, useRef, useSyncExternalStore } from 'react'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { useTexts } from '../texts/use-texts.ts'
import { deviceOf } from './device.ts'
import { IpAddress } from './ip-address.tsx'
import type { SessionRow } from './still-rows.ts'
import { dateAndTime, timeAgo } from './time-words.ts'
import type { Session } from './use-sessions.ts'

/** How often the card checks whether its times are described differently by now. */
const CHECK_MS = 10_000

/**
 * Renders one session. After it ends, the card keeps its place and height. The card is rendered again only if it has
 * changed, because there can be hundreds.
 */
export const SessionCard = memo(function SessionCard({
  row: { session, isEnded },
  isEnding,
  onEnd,
}: {
  row: SessionRow
  isEnding: boolean
  onEnd: (session: Session, device: string) => void
}) {
  const t = useTexts()
  const card = useRef<HTMLLIElement>(null)
  useEffect(() => {
    // The button that had the focus disappeared when the session ended.
    if (isEnded && document.activeElement === document.body) card.current?.focus({ preventScroll: true })
  }, [isEnded])
  const device = deviceOf(session.user_agent, t)
  const look = isEnded ? ' ended' : session.current ? ' own' : ''
  return (
    <li className={`session${look}`} ref={card} tabIndex={-1}>
      <span className="session-icon">
        <Icon name={device.icon} />
      </span>
      <div className="session-name">
        <h3>{device.name}</h3>
        <details className="help">
          <summary>
            {device.kind}
            {session.current && !isEnded && <span className="badge accent">{t('you')}</span>}
          </summary>
          <p>{t('user_agent', { userAgent: session.user_agent ?? t('ip_unknown') })}</p>
        </details>
      </div>
      <dl>
        <div>
          <dt>{t('ip')}</dt>
          <dd className="number">{session.ip === null ? t('ip_unknown') : <IpAddress ip={session.ip} />}</dd>
        </div>
        <Moment label={t('signed_in')} seconds={session.created} />
        <Moment label={t('last_seen')} seconds={session.last_seen} />
        <Moment label={t('expires')} seconds={session.expires} />
      </dl>
      {isEnded ? (
        <p className="session-over">{t('ended')}</p>
      ) : (
        <Button
          tone="danger"
          busy={isEnding && t('end_one_busy')}
          aria-label={t('end_one_named', { device: device.name })}
          onClick={() => onEnd(session, device.name)}
        >
          {t('end_one')}
        </Button>
      )}
    </li>
  )
})

function Moment({ label, seconds }: { label: string; seconds: number }) {
  const ms = seconds * 1000
  const ago = useSyncExternalStore(everySoOften, () => timeAgo(ms))
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <time dateTime={new Date(ms).toISOString()}>
          {ago}
          <span className="help">{dateAndTime(ms)}</span>
        </time>
      </dd>
    </div>
  )
}

function everySoOften(check: () => void): () => void {
  const timer = setInterval(check, CHECK_MS)
  return () => clearInterval(timer)
}
