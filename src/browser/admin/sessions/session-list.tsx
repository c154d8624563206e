import { type ComponentProps, useCallback, useRef, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/feedback/confirm.tsx'
import { Empty } from '../parts/feedback/empty.tsx'
import { Failed } from '../parts/feedback/failed.tsx'
import { Skeleton } from '../parts/feedback/skeleton.tsx'
import { RestFailure } from '../rest/rest-failure.ts'
import { useSignedIn } from '../rest/use-signed-in.ts'
import { countKey, useTexts } from '../texts/use-texts.ts'
import { ConfirmEverywhere } from './confirm-everywhere.tsx'
import { deviceOf } from './device.ts'
import { ExplainLimit } from './explain-limit.tsx'
import { ListHead } from './list-head.tsx'
import { SessionCard } from './session-card.tsx'
import { timeAgo } from './time-words.ts'
import { useEndSessions } from './use-end-sessions.ts'
import { type Session, useSessions } from './use-sessions.ts'
import { useSteadyClicks } from './use-steady-clicks.ts'
import { useStillRows } from './use-still-rows.ts'

/** Renders a user's sessions, newest first. Rows keep their places until the user refreshes the list. */
export default function SessionList({ user }: { user: string }) {
  const t = useTexts()
  const isSignedIn = useSignedIn() === 'yes'
  const { data, error, refetch, isFetching, dataUpdatedAt } = useSessions(user)
  const { rows, waiting, show, end } = useStillRows(data?.sessions)
  const { endOne, endAll, isEnding, isEndingAll } = useEndSessions(user, (ended) =>
    end(({ token }) => ended === undefined || token === ended.token),
  )
  const [asking, setAsking] = useState<Session | 'all'>()
  const askOrEnd = useCallback(
    (session: Session, device: string) => (session.current ? setAsking(session) : endOne(session, device)),
    [endOne],
  )
  const heading = useRef<HTMLHeadingElement>(null)
  const keepSteady = useSteadyClicks(rows.map(({ session, isEnded }) => `${session.token}${isEnded}`).join())
  const count = rows.filter(({ isEnded }) => !isEnded).length + waiting

  if (!data) {
    return error ? <NotListed error={error} retry={refetch} isRetrying={isFetching} /> : <Skeleton panels={1} />
  }
  const name = data.user.display_name || data.user.login

  return (
    <>
      <section
        className="stack"
        aria-label={t('sessions_of', { name })}
        inert={!isSignedIn}
        onClickCapture={keepSteady}
      >
        <ListHead
          user={data.user}
          heading={heading}
          count={count}
          updated={t(error && isSignedIn ? 'not_updated' : 'updated', { when: timeAgo(dataUpdatedAt) })}
        >
          <ExplainLimit user={user} name={name} />
          <Button
            tone="quiet"
            icon="refresh"
            busy={isFetching && t('refresh')}
            onClick={() => void refetch().then((result) => result.data && show(result.data.sessions))}
          >
            {t('refresh')}
          </Button>
          <Button
            tone="danger"
            disabled={count === 0}
            busy={isEndingAll && t('end_one_busy')}
            onClick={() => setAsking('all')}
          >
            {t('end_all')}
          </Button>
        </ListHead>
        <div className="board">
          <p className="news" role="status">
            {waiting > 0 && (
              <button
                type="button"
                onClick={() => {
                  show(data.sessions)
                  heading.current?.focus({ preventScroll: true })
                }}
              >
                {t(countKey('waiting', waiting), { count: waiting })}
              </button>
            )}
          </p>
          {rows.length === 0 && waiting === 0 && <Empty icon="desktop" title={t('sessions_empty')} />}
          <ul className="sessions">
            {rows.map((row) => (
              <SessionCard key={row.session.token} row={row} isEnding={isEnding(row.session)} onEnd={askOrEnd} />
            ))}
          </ul>
        </div>
      </section>
      <ConfirmEverywhere
        found={asking === 'all' ? data : undefined}
        onConfirm={() => endAll(name)}
        onClose={() => setAsking(undefined)}
      />
      <Confirm
        open={asking !== undefined && asking !== 'all'}
        title={t('end_own_title')}
        action={t('end_one')}
        onConfirm={() => {
          if (asking && asking !== 'all') endOne(asking, deviceOf(asking.user_agent, t).name)
        }}
        onClose={() => setAsking(undefined)}
      >
        <p>{t('end_own_text')}</p>
      </Confirm>
    </>
  )
}

/** Explains why there is no list: the user does not exist, or the server failed. */
function NotListed({ error, retry, isRetrying }: Required<Omit<ComponentProps<typeof Failed>, 'fallback'>>) {
  const t = useTexts()
  if (error instanceof RestFailure && error.code === 'user_not_found') {
    return (
      <Empty icon="search" title={<span role="alert">{error.message}</span>}>
        {t('user_unknown_help')}
      </Empty>
    )
  }
  return <Failed error={error} fallback="sessions_failed" retry={retry} isRetrying={isRetrying} />
}
