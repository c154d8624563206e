import { useCopy } from '../../parts/use-copy.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { exactTime } from '../time-words.ts'
import type { Session } from '../use-sessions.ts'

/** Digits of the token that identify a session well enough in a log. */
const DIGITS = 8

/** Renders what a row has no room for. */
export function SessionDetails({ session, tabIndex }: { session: Session; tabIndex: number }) {
  const t = useTexts()
  const copy = useCopy()
  const moments = [
    ['last_seen', session.last_seen],
    ['signed_in', session.created],
    ['expires', session.expires],
  ] as const
  const digits = session.token.slice(0, DIGITS)
  return (
    <dl>
      {moments.map(([text, seconds]) => (
        <div key={text}>
          <dt>{t(text)}</dt>
          <dd className="number">{exactTime(seconds * 1000)}</dd>
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
