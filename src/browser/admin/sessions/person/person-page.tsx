import { type ReactNode, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import { FIRST_VIEW } from '../../../../features/admin/screen-tabs.ts'
import { Button, DangerButton } from '../../parts/button.tsx'
import { useConfirm } from '../../parts/dialog.tsx'
import { Pending, Skeleton } from '../../parts/feedback.tsx'
import { PlaceLink, SafeLink } from '../../parts/links.tsx'
import { SessionsExport } from '../../parts/menu.tsx'
import type { Query } from '../../rest/queries.ts'
import { RestFailure } from '../../rest/rest-client.ts'
import { serverNow } from '../../rest/server-clock.ts'
import { useQuery, useSignedIn } from '../../rest/use-rest.ts'
import { hasActivity } from '../../screen.ts'
import { latePart } from '../../shell/late-part.tsx'
import { PERSON_TEXTS } from '../../texts/person-texts.ts'
import { addTexts, countKey, useTexts } from '../../texts/use-texts.ts'
import { goToSearch, KeysHelp, useKey } from '../keyboard.tsx'
import { SHOWS, SORTS } from '../people/people-views.ts'
import { lastView } from '../people/use-people.ts'
import { Filter, rememberLookUp, SearchBox, UnknownUser } from '../search.tsx'
import { useSignOut } from '../sign-out.tsx'
import type { StillRow } from '../table/rows.ts'
import { Live, TableCard } from '../table/table-card.tsx'
import { joined, nameOf, type Person, type Session, type UserSessions, useSessions } from '../use-sessions.ts'
import { endingQuestion, useEndSessions } from './end-sessions.tsx'
import { SessionTable, STEP, useSelection, useSortedRows } from './session-table.tsx'

addTexts(PERSON_TEXTS)

const ExplainLimit = latePart(async () => (await import('./explain-limit.tsx')).ExplainLimit)
const PersonActivity = latePart(async () => (await import('../../tabs/activity-page.tsx')).PersonActivity)

/** Renders the page of one user. `user` is an id, an email address or a login name. `query` comes from the URL. */
export function PersonPage({ user, query }: { user: string; query: URLSearchParams }) {
  const list = useSessions(user)
  if (list.data) return <PersonSessions user={user} query={query} found={list.data} list={list} />
  return <NotListed user={user} list={list} />
}

const KEYS = [
  ['/', 'key_search'],
  ['↑ ↓', 'key_move'],
  ['Enter', 'key_open'],
  ['Space', 'key_select'],
  ['Shift', 'key_range'],
  ['Delete', 'key_end'],
] as const

/** A list with more rows than this has a search field. */
const LONG = 20

interface PersonProps {
  readonly user: string
  readonly query: URLSearchParams
  readonly found: UserSessions
  readonly list: ReturnType<typeof useSessions>
}

/** Renders a user's sessions. Rows keep their places until the user sorts or refreshes the list. */
function PersonSessions({ user, query, found, list }: PersonProps) {
  const t = useTexts()
  useKey('/', goToSearch)
  const sorted = useSortedRows(found.sessions)
  const { rows, waiting, end } = sorted
  const ending = useEndSessions(user, (ended) => {
    const tokens = new Set(ended.map(({ token }) => token))
    end((token) => tokens.has(token))
  })
  const name = nameOf(found.user)
  const [ask, endDialog] = useConfirm(
    (sessions: readonly Session[]) => endingQuestion(t, sessions, name),
    ending.endSeveral,
  )
  const signOut = useSignOut(() => end(() => true))
  const [isExplaining, setExplaining] = useState(false)
  // The list may not have been read again since some of its sessions ended.
  const ended = new Set(rows.flatMap(({ key, isEnded }) => (isEnded ? [key] : [])))
  const live = found.sessions.filter(({ token }) => !ended.has(token))
  const isOwn = live.some(({ current }) => current)
  const others = live.filter(({ current }) => !current)
  const isActivity = hasActivity && query.get('part') === 'activity'

  return (
    <>
      <section className="stack" aria-label={t('sessions_of', { name })} inert={useSignedIn() !== 'yes'}>
        <PersonHead
          found={found}
          count={live.filter(({ counts }) => counts).length}
          onExplain={() => setExplaining(true)}
        >
          <KeysHelp keys={KEYS} />
          {!isActivity && rows.length + waiting > 0 && (
            <SessionsExport words={['sessions', user]} route="sessions/export" query={{ user }} />
          )}
          {rows.length + waiting > 0 && (
            <DangerButton
              disabled={(isOwn ? others : live).length === 0}
              busy={(ending.isEndingSeveral || signOut.isPending) && t('end_one_busy')}
              onClick={() => (isOwn ? ask(others) : signOut.ask({ ...found, sessions: live }))}
            >
              {t(isOwn ? 'end_others' : 'end_all')}
            </DangerButton>
          )}
        </PersonHead>
        {hasActivity && (
          <nav className="tabs parts" aria-label={name}>
            <PlaceLink query={{ user }} aria-current={isActivity ? undefined : 'true'}>
              {t('tab_sessions')} <span className="badge">{live.length}</span>
            </PlaceLink>
            <PlaceLink query={{ user, part: 'activity' }} aria-current={isActivity ? 'true' : undefined}>
              {t('tab_activity')}
            </PlaceLink>
          </nav>
        )}
        {isActivity ? (
          <Suspense fallback={<Skeleton />}>
            <PersonActivity user={user} query={query} />
          </Suspense>
        ) : (
          <SessionsPart found={found} list={list} sorted={sorted} ending={ending} ask={ask} />
        )}
      </section>
      {isExplaining && (
        <Suspense>
          <ExplainLimit user={user} name={name} onClose={() => setExplaining(false)} />
        </Suspense>
      )}
      {endDialog}
      {signOut.dialog}
    </>
  )
}

/** Renders the table of a user's sessions, with the search and the selection. */
function SessionsPart({
  found,
  list,
  sorted: { rows, waiting, sort, show, sortBy },
  ending: { endOne, isEnding, isEndingSeveral },
  ask,
}: Pick<PersonProps, 'found' | 'list'> & {
  sorted: ReturnType<typeof useSortedRows>
  ending: ReturnType<typeof useEndSessions>
  ask: (sessions: readonly Session[]) => void
}) {
  const t = useTexts()
  const [wanted, setWanted] = useState('')
  const matching = useMemo(() => rows.filter(({ item }) => isWanted(item, wanted)), [rows, wanted])
  const all = liveIn(matching)
  const selection = useSelection(all)
  // Sessions hidden by the filter must not end.
  const chosen = all.filter(({ token }) => selection.tokens.has(token))
  const onEnd = useEndOrAsk(endOne, ask)
  const isLong = all.length > STEP
  return (
    <>
      <div className="search-line">
        {rows.length > LONG && <Filter value={wanted} onChange={setWanted} />}
        <Live list={list} onRefresh={(pages) => show(joined(pages).sessions)} />
      </div>
      <TableCard
        hasFailed={list.error !== undefined}
        state={rows.map(({ key }) => key).join()}
        selected={
          chosen.length > 0 && t(isLong ? 'selected_of' : 'selected', { count: chosen.length, all: all.length })
        }
        news={waiting > 0 && t(countKey('waiting', waiting), { count: waiting })}
        onShow={() => show(found.sessions)}
        actions={
          <>
            {isLong && all.length > chosen.length && (
              <Button tone="quiet" onClick={() => selection.become(all)}>
                {t('select_all_of', { count: all.length })}
              </Button>
            )}
            <Button
              tone="quiet"
              onClick={({ currentTarget }) => {
                selection.become([])
                // This button disappears.
                currentTarget.closest('.table-card')?.querySelector<HTMLElement>('thead input')?.focus()
              }}
            >
              {t('clear')}
            </Button>
            <DangerButton busy={isEndingSeveral && t('end_one_busy')} onClick={() => ask(chosen)}>
              {t('end_chosen', { count: chosen.length })}
            </DangerButton>
          </>
        }
      >
        <SessionTable
          user={found.user}
          rows={matching}
          isFiltered={matching.length < rows.length}
          waiting={waiting}
          sort={sort}
          selection={selection}
          isEnding={isEnding}
          onSort={sortBy}
          onEnd={onEnd}
          onDelete={(session) => ask([session])}
        />
      </TableCard>
    </>
  )
}

function liveIn(rows: readonly StillRow<Session>[]): readonly Session[] {
  return rows.flatMap(({ item, isEnded }) => (isEnded ? [] : [item]))
}

/** Checks whether the visible text of a session contains all of these words. */
function isWanted({ device, place, ip, label, actor }: Session, words: string): boolean {
  const text = [device.name, place, ip, label, actor].join(' ').toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
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

/**
 * Renders the heading of a user's page: the name, the number of sessions and the maximum, and actions on all sessions.
 */
function PersonHead({
  found: { user, limit },
  count,
  onExplain,
  children,
}: {
  found: UserSessions
  /** How many sessions are live. */
  count: number
  onExplain: () => void
  children: ReactNode
}) {
  const t = useTexts()
  const name = nameOf(user)
  useLayoutEffect(() => {
    const ofTab = document.title
    document.title = `${name} – ${ofTab}`
    return () => {
      document.title = ofTab
    }
  }, [name])
  useEffect(() => {
    rememberLookUp({ login: user.login, name })
  }, [user.login, name])
  const { maximum = null, maximum_if_enforced: wouldBe } = limit ?? {}
  const isOver = count > (maximum ?? wouldBe ?? count)
  const counted =
    maximum === null
      ? `${t(countKey('live', count), { count })}, ${wouldBe ? t('would_be', { maximum: wouldBe }) : t('no_limit')}`
      : isOver
        ? t('live_over', { count, maximum })
        : t(countKey('live_of', maximum), { count, maximum })
  return (
    <>
      <EverybodyLink />
      <div className="list-head">
        <div>
          <div className="facts">
            <h2 id={HEADING}>
              <bdi>{name}</bdi>
            </h2>
            {user.url && <SafeLink href={user.url}>{t('open_in_site')}</SafeLink>}
          </div>
          <p className="facts">
            <bdi>{user.login}</bdi>
            {user.email && <bdi>{user.email}</bdi>}
            <span>{t('user_id', { id: String(user.id) })}</span>
          </p>
          <p className="facts">
            <span role="status">
              <strong className={isOver ? 'warn' : undefined}>{counted}</strong>
              {isOver && maximum === null && `, ${t('would_be_over')}`}
            </span>
            <button type="button" className="link" onClick={onExplain}>
              {t('explain')}
            </button>
            {hasActivity && <Lately user={user} />}
          </p>
        </div>
        <div className="actions">{children}</div>
      </div>
    </>
  )
}

const DAY_MS = 86_400_000

/** Renders how many places and IP addresses a user's recent activity comes from. */
function Lately({ user }: Pick<UserSessions, 'user'>) {
  const t = useTexts()
  const query: Query<{ readonly people: readonly LatelySeen[] }> = {
    key: ['lately', user.id],
    path() {
      const from = String(Math.trunc(serverNow()) - DAY_MS)
      return `sessmgr/v1/audit/counts?${new URLSearchParams({ user: String(user.id), from, step: String(2 * DAY_MS) })}`
    },
    freshMs: 60_000,
    failsAtOnce: true,
  }
  const { data } = useQuery(query)
  const people = Array.isArray(data?.people) ? data.people : []
  // The login name of one user can be the id of another.
  const seen = people.find((person) => person.user.id === user.id)
  if (!seen?.addresses) return null
  const from = t(countKey('count_addresses', seen.addresses), { count: seen.addresses })
  if (seen.places === seen.addresses) return <span>{t('lately_from', { addresses: from })}</span>
  return (
    <span>
      {t('lately', { places: t(countKey('count_places', seen.places), { count: seen.places }), addresses: from })}
    </span>
  )
}

interface LatelySeen {
  readonly user: Pick<Person, 'id'>
  readonly addresses: number
  readonly places: number
}

/** Explains why there is no list: it is loading, the user does not exist, or the server failed. */
function NotListed({ user, list }: Pick<PersonProps, 'user' | 'list'>) {
  const { error } = list
  if (error === undefined) return <Skeleton />
  const isUnknown = error instanceof RestFailure && error.code === 'user_not_found'
  return (
    <div className="stack">
      <EverybodyLink />
      <SearchBox text={user} />
      {isUnknown ? <UnknownUser text={user} /> : <Pending of={list} what="sessions_failed" />}
    </div>
  )
}

/** Renders the link back to the list of people, with its last filter and order. */
function EverybodyLink() {
  const t = useTexts()
  const { show = '', sort = '' } = lastView()
  const chosen = [
    SHOWS.find(([value]) => value === show && value !== FIRST_VIEW.show),
    SORTS.find(([value]) => value === sort && value !== FIRST_VIEW.sort),
  ]
  const words = chosen.flatMap((choice) => (choice ? [t(choice[1])] : []))
  return (
    <p>
      <PlaceLink className="back" query={lastView()}>
        <span className="arrow" aria-hidden="true">
          ←
        </span>
        {t('everybody')}
      </PlaceLink>
      {words.length > 0 && <span className="help"> ({words.join(', ')})</span>}
    </p>
  )
}
