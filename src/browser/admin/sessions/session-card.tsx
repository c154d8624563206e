import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { useTexts } from '../texts/use-texts.ts'
import { deviceOf } from './device.ts'
import { dateAndTime, timeAgo } from './time-words.ts'
import type { Session } from './use-sessions.ts'

/** Draws one session. */
export function SessionCard({ session, isEnding, onEnd }: { session: Session; isEnding: boolean; onEnd: () => void }) {
  const t = useTexts()
  const device = deviceOf(session.user_agent, t)
  return (
    <li className={session.current ? 'session own' : 'session'}>
      <span className="session-icon">
        <Icon name={device.icon} />
      </span>
      <div className="session-name">
        <h3 title={session.user_agent ?? undefined}>{device.name}</h3>
        <p className="help">
          {device.kind}
          {session.current && <span className="badge accent">{t('you')}</span>}
        </p>
      </div>
      <dl>
        <div>
          <dt>{t('ip')}</dt>
          <dd className="number">{session.ip ?? t('ip_unknown')}</dd>
        </div>
        <Moment label={t('signed_in')} seconds={session.created} />
        <Moment label={t('last_seen')} seconds={session.last_seen} />
        <Moment label={t('expires')} seconds={session.expires} />
      </dl>
      <Button
        tone="danger"
        busy={isEnding && t('end_one_busy')}
        aria-label={t('end_one_named', { device: device.name })}
        onClick={onEnd}
      >
        {t('end_one')}
      </Button>
    </li>
  )
}

function Moment({ label, seconds }: { label: string; seconds: number }) {
  const ms = seconds * 1000
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <time dateTime={new Date(ms).toISOString()}>
          {timeAgo(ms)}
          <span className="help">{dateAndTime(ms)}</span>
        </time>
      </dd>
    </div>
  )
}
