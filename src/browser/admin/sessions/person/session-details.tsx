import { useCopy } from '../../parts/use-copy.ts'
import { touchEvery } from '../../screen.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { exactTime, timeSpan } from '../time-words.ts'
import type { Session } from '../use-sessions.ts'

/** Digits of the token that identify a session well enough in a log. */
const DIGITS = 8

/** Renders what a row has no room for. */
export function SessionDetails({ session, tabIndex }: { session: Session; tabIndex: number }) {
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
            className="text-button"
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
