import { useEffect, useRef, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Empty } from '../parts/empty.tsx'
import { Failed } from '../parts/failed.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { RestFailure } from '../rest/rest-failure.ts'
import { countKey, useTexts } from '../texts/use-texts.ts'
import { deviceOf } from './device.ts'
import { SessionCard } from './session-card.tsx'
import { timeAgo } from './time-words.ts'
import { useEndSessions } from './use-end-sessions.ts'
import { type Session, useSessions } from './use-sessions.ts'

/** Draws the sessions of a user, those that began last first. */
export default function SessionList({ user }: { user: string }) {
  const t = useTexts()
  const { data, error, refetch, isFetching, dataUpdatedAt } = useSessions(user)
  const { endOne, endAll, ending } = useEndSessions(user)
  const [asking, setAsking] = useState<Session | 'all'>()
  const heading = useRef<HTMLHeadingElement>(null)
  const before = useRef<number>(undefined)
  const shown = data?.sessions.length
  useEffect(() => {
    // The button that ended a session goes with it, and takes the focus along.
    const isFewer = shown !== undefined && before.current !== undefined && shown < before.current
    if (isFewer && document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
    before.current = shown
  }, [shown])

  if (!data) {
    if (!error) return <Skeleton panels={1} />
    if (error instanceof RestFailure && error.code === 'user_not_found') {
      return (
        <Empty icon="search" title={<span role="alert">{error.message}</span>}>
          {t('user_unknown_help')}
        </Empty>
      )
    }
    return <Failed error={error} fallback="sessions_failed" retry={refetch} isRetrying={isFetching} />
  }
  const { sessions } = data
  const name = data.user.display_name || data.user.login
  const count = sessions.length
  const ownSession = sessions.find(({ current }) => current)

  return (
    <section className="stack" aria-label={t('sessions_of', { name })}>
      <div className="list-head">
        <div>
          <h2 ref={heading} tabIndex={-1}>
            {name}
          </h2>
          <p className="help">
            {data.user.login} · {String(data.user.id)}
          </p>
        </div>
        <div className="list-state">
          <p className="count" role="status">
            <span className={count > 0 ? 'pulse live' : 'pulse'} aria-hidden="true" />
            {count === 0 ? t('live_zero') : t(countKey('live', count), { count })}
          </p>
          <p className="help">{t('updated', { when: timeAgo(dataUpdatedAt) })}</p>
        </div>
        <div className="actions">
          <Button tone="quiet" icon="refresh" busy={isFetching && t('refresh')} onClick={() => void refetch()}>
            {t('refresh')}
          </Button>
          {count > 0 && (
            <Button tone="danger" busy={ending === 'all' && t('end_one_busy')} onClick={() => setAsking('all')}>
              {t('end_all')}
            </Button>
          )}
        </div>
      </div>
      {error && <Failed error={error} fallback="sessions_failed" retry={refetch} isRetrying={isFetching} />}
      {count === 0 && (
        <Empty icon="desktop" title={t('sessions_empty')}>
          {t('sessions_empty_help')}
        </Empty>
      )}
      <ul className="sessions">
        {sessions.toReversed().map((session) => (
          <SessionCard
            key={session.token}
            session={session}
            isEnding={ending === session.token}
            onEnd={() => (session.current ? setAsking(session) : endOne(session, deviceOf(session.user_agent, t).name))}
          />
        ))}
      </ul>
      <Confirm
        open={asking !== undefined}
        title={asking === 'all' ? t('end_all_title', { name }) : t('end_own_title')}
        action={asking === 'all' ? t('end_all') : t('end_one')}
        onConfirm={() => {
          if (asking === 'all') endAll(name)
          else if (asking) endOne(asking, deviceOf(asking.user_agent, t).name)
        }}
        onClose={() => setAsking(undefined)}
      >
        {asking === 'all' ? (
          <>
            <p>{t(countKey('end_all_text', count), { count, name })}</p>
            {ownSession && (
              <p>
                <strong>{t('end_all_own')}</strong>
              </p>
            )}
          </>
        ) : (
          <p>{t('end_own_text')}</p>
        )}
      </Confirm>
    </section>
  )
}
