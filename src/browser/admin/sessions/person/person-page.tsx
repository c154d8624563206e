import { type ReactNode, useCallback, useEffect } from 'react'
import { Button, DangerButton } from '../../parts/button.tsx'
import { useConfirm } from '../../parts/dialog.tsx'
import { Empty, Failed, TableSkeleton } from '../../parts/feedback.tsx'
import { PlaceLink, SafeLink } from '../../parts/links.tsx'
import { SessionsExport } from '../../parts/menu.tsx'
import { RestFailure } from '../../rest/rest-client.ts'
import { useSignedIn } from '../../rest/use-rest.ts'
import { vars } from '../../screen.ts'
import { countKey, useTexts } from '../../texts/use-texts.ts'
import { goToSearch, KeysHelp, leaveEverybody, useKey } from '../keyboard.tsx'
import { noneFound, rememberLookUp, SearchBox, type SearchResult, usePeopleSearch } from '../search.tsx'
import { useSignOut } from '../sign-out.tsx'
import { TableCard, useSteadyClicks } from '../table/table-card.tsx'
import { nameOf, type Session, type UserSessions, useSessions } from '../use-sessions.ts'
import { endingQuestion, useEndSessions } from './end-sessions.tsx'
import { ExplainLimit } from './explain-limit.tsx'
import { SessionTable, useSelection, useSortedRows } from './session-table.tsx'

/** Renders the page of one user. `user` is an id, an email address or a login name. */
export function PersonPage({ user }: { user: string }) {
  useEffect(leaveEverybody, [])
  const list = useSessions(user)
  const { data, error, refetch, isFetching } = list
  if (data) return <PersonSessions user={user} found={data} list={list} />
  if (error) return <NotListed user={user} error={error} retry={refetch} isRetrying={isFetching} />
  return <TableSkeleton isPerson />
}

const KEYS = [
  ['/', 'key_search'],
  ['↑ ↓', 'key_move'],
  ['Enter', 'key_open'],
  ['Space', 'key_select'],
  ['Shift', 'key_range'],
  ['Delete', 'key_end'],
] as const

type SessionsQuery = ReturnType<typeof useSessions>

/** Renders a user's sessions. Rows keep their places until the list is sorted or read again on demand. */
function PersonSessions({ user, found, list }: { user: string; found: UserSessions; list: SessionsQuery }) {
  const t = useTexts()
  useKey('/', goToSearch)
  const { rows, waiting, sort, show, sortBy, end } = useSortedRows(found.sessions)
  const { endOne, endSeveral, isEnding, isEndingSeveral } = useEndSessions(user, (ended) => {
    const tokens = new Set(ended.map(({ token }) => token))
    end((token) => tokens.has(token))
  })
  const name = nameOf(found.user)
  const [ask, endDialog] = useConfirm((sessions: readonly Session[]) => endingQuestion(t, sessions, name), endSeveral)
  const signOut = useSignOut(() => end(() => true))
  const keepSteady = useSteadyClicks(rows.map(({ key }) => key).join())
  const live = rows.flatMap(({ item, isEnded }) => (isEnded ? [] : [item]))
  const selection = useSelection(live)
  const chosen = live.filter(({ token }) => selection.tokens.has(token))
  const count = live.length + waiting
  const isOwn = live.some(({ current }) => current)
  const others = found.sessions.filter(({ current }) => !current)

  return (
    <>
      <section
        className="stack"
        aria-label={t('sessions_of', { name })}
        inert={useSignedIn() !== 'yes'}
        onClickCapture={keepSteady}
      >
        <PersonHead found={found} count={count}>
          <KeysHelp keys={KEYS} />
          <ExplainLimit user={user} name={name} />
          {rows.length + waiting > 0 && <SessionsExport route="sessions/export" query={{ user }} />}
          {rows.length + waiting > 0 && (
            <DangerButton
              disabled={isOwn ? others.length === 0 : count === 0}
              busy={(isEndingSeveral || signOut.isPending) && t('end_one_busy')}
              onClick={() => (isOwn ? ask(others) : signOut.ask(found))}
            >
              {t(isOwn ? 'end_others' : 'end_all')}
            </DangerButton>
          )}
        </PersonHead>
        <TableCard
          list={list}
          selected={chosen.length > 0 && t('selected', { count: chosen.length })}
          news={waiting > 0 && t(countKey('waiting', waiting), { count: waiting })}
          onShow={() => show(found.sessions)}
          onRefresh={({ sessions }) => show(sessions)}
          actions={
            chosen.length > 0 && (
              <>
                <Button tone="quiet" onClick={() => selection.become([])}>
                  {t('clear')}
                </Button>
                <DangerButton busy={isEndingSeveral && t('end_one_busy')} onClick={() => ask(chosen)}>
                  {t('end_chosen', { count: chosen.length })}
                </DangerButton>
              </>
            )
          }
        >
          <SessionTable
            user={found.user}
            rows={rows}
            waiting={waiting}
            sort={sort}
            selection={selection}
            isEnding={isEnding}
            onSort={sortBy}
            onEnd={useEndOrAsk(endOne, ask)}
            onDelete={(session) => ask([session])}
          />
        </TableCard>
      </section>
      {endDialog}
      {signOut.dialog}
    </>
  )
}

/** Ends a session at once, but asks first if it is the user's own. */
function useEndOrAsk(endOne: (session: Session) => void, ask: (sessions: readonly Session[]) => void) {
  return useCallback(
    (session: Session) => {
      if (!navigator.onLine) return
      if (session.current) ask([session])
      else endOne(session)
    },
    [endOne, ask],
  )
}

const HEADING = 'person'

/** Renders the heading of a user's page: who it is, how many sessions of how many, and actions on all of them. */
function PersonHead({
  found: { user, limit },
  count,
  children,
}: {
  found: UserSessions
  /** How many sessions are live. */
  count: number
  children: ReactNode
}) {
  const t = useTexts()
  const name = nameOf(user)
  useEffect(() => {
    const ofTab = document.title
    document.title = `${name} – ${ofTab}`
    return () => {
      document.title = ofTab
    }
  }, [name])
  useEffect(() => {
    rememberLookUp({ login: user.login, name })
    // The link that led here is gone.
    if (document.activeElement === document.body) document.getElementById(HEADING)?.focus({ preventScroll: true })
  }, [user.login, name])
  const maximum = limit?.maximum ?? null
  const counted =
    maximum === null
      ? `${t(countKey('live', count), { count })}, ${t('no_limit')}`
      : t(countKey('live_of', maximum), { count, maximum })
  return (
    <>
      <EverybodyLink />
      <div className="list-head">
        <div>
          <div className="facts">
            <h2 id={HEADING} tabIndex={-1}>
              <bdi>{name}</bdi>
            </h2>
            {user.url && <SafeLink href={user.url}>{t('open_in_site')}</SafeLink>}
          </div>
          <p className="facts">
            <bdi>{user.login}</bdi>
            {user.email && <bdi>{user.email}</bdi>}
            <span>{t('user_id', { id: String(user.id) })}</span>
            <span role="status">
              <strong>{counted}</strong>
              {maximum !== null && count > maximum && `, ${t('over_limit')}`}
            </span>
            {limit && maximum !== null && <span>{vars.logics[limit.logic]?.label ?? limit.logic}</span>}
          </p>
        </div>
        <div className="actions">{children}</div>
      </div>
    </>
  )
}

/** Explains why there is no list: the user does not exist, or the server failed. */
function NotListed({
  user,
  error,
  retry,
  isRetrying,
}: {
  user: string
  error: unknown
  retry: () => unknown
  isRetrying: boolean
}) {
  const isUnknown = error instanceof RestFailure && error.code === 'user_not_found'
  return (
    <div className="stack">
      <EverybodyLink />
      <SearchBox text={user} />
      {isUnknown ? (
        <Unknown text={user} />
      ) : (
        <Failed error={error} fallback="sessions_failed" retry={retry} isRetrying={isRetrying} />
      )}
    </div>
  )
}

/** Explains that nobody is found, with links to users with a similar name. */
function Unknown({ text }: { text: string }) {
  const t = useTexts()
  const { data } = usePeopleSearch(text)
  return (
    <Empty icon="search" title={<span role="alert">{noneFound(t, text, data)}</span>}>
      <Closest data={data} />
    </Empty>
  )
}

function Closest({ data }: { data: SearchResult | undefined }) {
  const t = useTexts()
  const there = data?.address?.people ?? []
  const people = there.length > 0 ? there : (data?.people ?? [])
  if (people.length === 0) return data?.address ? null : t('try_email')
  return (
    <>
      {there.length === 0 && `${t('closest')} `}
      {people.map(({ user }, index) => (
        <span key={String(user.id)}>
          {index > 0 && ', '}
          <PlaceLink query={{ user: user.login }}>{nameOf(user)}</PlaceLink>
        </span>
      ))}
    </>
  )
}

/** Renders the link from a user's page back to everybody. */
function EverybodyLink() {
  const t = useTexts()
  return (
    <p>
      <PlaceLink query={{}}>
        <span className="arrow" aria-hidden="true">
          ←
        </span>{' '}
        {t('everybody')}
      </PlaceLink>
    </p>
  )
}
