import { type MouseEvent, memo, type ReactNode, useMemo } from 'react'
import { FIRST_VIEW, PEOPLE_PER_PAGE } from '../../../../features/admin/screen-tabs.ts'
import { useConfirm } from '../../parts/dialog.tsx'
import { Empty, Skeleton } from '../../parts/feedback.tsx'
import { PlaceLink } from '../../parts/links.tsx'
import { Menu } from '../../parts/menu.tsx'
import { useCopy } from '../../parts/use-copy.ts'
import { useCall } from '../../rest/use-call.ts'
import { useQuery, useRefreshMs } from '../../rest/use-rest.ts'
import { place, rest, toasts } from '../../screen.ts'
import { opensHere } from '../../shell/screen-location.ts'
import { countKey, type TextKey, type Translate, useTexts } from '../../texts/use-texts.ts'
import { useSignOut } from '../sign-out.tsx'
import { IpAddress, Moment } from '../table/cells.tsx'
import { ListTable, MoreRows, SortHead } from '../table/list-table.tsx'
import { type StillRow, useMorePages, useStillRows } from '../table/rows.ts'
import { ListFrame, TableCard } from '../table/table-card.tsx'
import { nameOf, type Person, SESSIONS } from '../use-sessions.ts'
import type { PeopleView } from './people-views.ts'
import { peopleQuery, type SignedInPerson, usePeopleSummary } from './use-people.ts'

/** A list with more people than this is not refreshed automatically. */
const LONG = 200

/** Reads the signed-in people, and refreshes the list at intervals while the screen is visible. */
function usePeople(view: PeopleView) {
  const refreshMs = useRefreshMs()
  return useQuery(peopleQuery(view), { everyMs: ({ length }) => length * PEOPLE_PER_PAGE <= LONG && refreshMs })
}

type Found = ReturnType<typeof usePeople>

/** Renders the list of people below the line with the search. */
export function PeopleList({ view, children }: { view: PeopleView; children: ReactNode }) {
  const found = usePeople(view)
  return (
    <ListFrame list={found} also={usePeopleSummary()} view={view} failed="sessions_failed" line={children}>
      {(pages) => <People view={view} found={found} pages={pages} />}
    </ListFrame>
  )
}

const keyOf = ({ user }: SignedInPerson) => JSON.stringify(user.id)

/** Renders people whose rows keep their places until the user refreshes the list. */
function People({ view, found, pages }: { view: PeopleView; found: Found; pages: NonNullable<Found['pages']> }) {
  const t = useTexts()
  const { data: summary } = usePeopleSummary()
  const all = useMemo(() => pages.flatMap(({ people }) => people), [pages])
  const { rows, waiting, show, end } = useStillRows(all, keyOf, { pages: pages.length, isWhole: !found.hasMore })
  const endRow = ({ id }: Person) => end((key) => key === JSON.stringify(id))
  const signOut = useSignOut(endRow)
  const [askErase, eraseDialog] = useErasePerson(endRow)
  const more = useMorePages(found, { rows: rows.length, pages: pages.length, size: PEOPLE_PER_PAGE })
  if (rows.length === 0 && found.hasMore) return <Skeleton />
  if (rows.length === 0 && waiting === 0) {
    return view.show === 'all' ? (
      <Empty icon="desktop" title={t('nobody')}>
        {t('nobody_help')}
      </Empty>
    ) : (
      <Empty icon="search" title={t('nobody_matches')} />
    )
  }
  const total = view.show === 'all' ? summary?.people : undefined
  const count = Math.max(total ?? 0, rows.length)
  return (
    <>
      <TableCard
        hasFailed={found.error !== undefined}
        state={rows.map(({ key }) => key).join()}
        news={waiting > 0 && t(countKey('waiting_people', waiting), { count: waiting })}
        onShow={() => show(all)}
      >
        <PeopleTable
          view={view}
          rows={rows}
          more={
            found.hasMore && (
              <MoreRows label={t('show_more', { count: PEOPLE_PER_PAGE })} {...more}>
                {total === undefined
                  ? t('shown', { shown: rows.length })
                  : t('shown_of', {
                      shown: rows.length,
                      count: summary?.exact === false ? t('about', { count }) : count,
                    })}
              </MoreRows>
            )
          }
          onEndAll={signOut.find}
          onErase={askErase}
        />
      </TableCard>
      {signOut.dialog}
      {eraseDialog}
    </>
  )
}

/** Renders the signed-in people as a table with arrow-key navigation. */
function PeopleTable({
  view,
  rows,
  more,
  onEndAll,
  onErase,
}: {
  view: PeopleView
  rows: readonly StillRow<SignedInPerson>[]
  more: ReactNode
  onEndAll: (user: Person) => void
  onErase: (user: Person) => void
}) {
  const t = useTexts()
  // The column that a list is sorted by leads back to the first order.
  const headOf = (sort: PeopleView['sort'], label: TextKey) => (
    <SortHead
      label={t(label)}
      title={t(`sort_${sort}`)}
      order={view.sort === sort ? 'descending' : undefined}
      onSort={() => place.setQuery({ ...view, sort: view.sort === sort ? FIRST_VIEW.sort : sort })}
    />
  )
  return (
    <ListTable
      label={t('people')}
      className="people-table"
      head={
        <>
          <th>{t('person')}</th>
          {headOf('most', 'tab_sessions')}
          <th>{t('devices')}</th>
          <th>{t('last_used')}</th>
          {headOf('places', 'from')}
          <th>
            <span className="unseen">{t('actions')}</span>
          </th>
        </>
      }
      rows={rows}
      onDelete={({ user }) => navigator.onLine && onEndAll(user)}
      more={more}
    >
      {(row, isCurrent) => (
        <PersonRow key={row.key} row={row} isCurrent={isCurrent} onEndAll={onEndAll} onErase={onErase} />
      )}
    </ListTable>
  )
}

/** Renders one person who is signed in. The whole row is clickable; the name is the link. */
const PersonRow = memo(function PersonRow({
  row: { key, item: person, isEnded },
  isCurrent,
  onEndAll,
  onErase,
}: {
  row: StillRow<SignedInPerson>
  /** Whether Tab reaches this row. */
  isCurrent: boolean
  onEndAll: (user: Person) => void
  onErase: (user: Person) => void
}) {
  const t = useTexts()
  const { user, ip } = person
  const name = nameOf(user)
  const query = { user: user.login }
  const tabIndex = isCurrent ? 0 : -1

  function open(event: MouseEvent): void {
    const isControl = event.target instanceof Element && event.target.closest('a, button, [role=menu]')
    if (isControl || window.getSelection()?.toString()) return
    if (opensHere(event)) place.setQuery(query)
    else window.open(place.urlOf('sessions', query))
  }

  return (
    <tr className={isEnded ? 'ended' : undefined} tabIndex={tabIndex} data-row={key} onClick={open}>
      <td className="cell-main">
        <Initials name={name} />
        <div>
          <PlaceLink className="row-name" query={query} tabIndex={tabIndex} data-opens>
            <bdi>{name}</bdi>
          </PlaceLink>
          <p className="help whole">
            {!user.email?.startsWith(user.login) && (
              <>
                <bdi>{user.login}</bdi> ·{' '}
              </>
            )}
            <bdi>{user.email ?? String(user.id)}</bdi>
          </p>
        </div>
      </td>
      <td className="cell-live">{isEnded ? t('ended') : <PlacesUsed person={person} />}</td>
      <td className="cell-devices">{devicesIn(person.devices, t)}</td>
      <td className="cell-used">
        <span className="small-only">{t('used')} </span>
        <Moment seconds={person.last_seen} />
      </td>
      <td className="cell-from">
        <bdi className="one-line">{person.place ?? (ip === null ? t('ip_unknown') : <IpAddress ip={ip} />)}</bdi>
        {person.places > 1 && (
          <span className="badge" title={t('count_places_other', { count: person.places })}>
            +{person.places - 1}
          </span>
        )}
      </td>
      <td className="cell-act">
        <PersonMenu
          user={user}
          tabIndex={tabIndex}
          onEndAll={isEnded ? undefined : () => onEndAll(user)}
          onErase={() => onErase(user)}
        />
      </td>
    </tr>
  )
})

function devicesIn(devices: SignedInPerson['devices'], t: Translate): string {
  const kinds = ['computers', 'phones', 'tablets', 'tvs', 'programs', 'unknown'] as const
  return kinds
    .flatMap((kind) => {
      const count = devices[kind] ?? 0
      return count > 0 ? [t(countKey(`count_${kind}`, count), { count })] : []
    })
    .join(', ')
}

/** Renders the initials of a name in a circle, in place of a picture. */
function Initials({
  name,
}: {
  /** Name in any script. */
  name: string
}) {
  const words = name.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? []
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words
  const letters = ends.map((word) => word?.match(/^./u)?.[0] ?? '').join('')
  return (
    <span className="initials" aria-hidden="true">
      {letters.toUpperCase()}
    </span>
  )
}

/** Renders a person's number of sessions, and the maximum. */
function PlacesUsed({ person: { live, maximum, maximum_if_enforced: wouldBe } }: { person: SignedInPerson }) {
  const t = useTexts()
  if (typeof maximum !== 'number') {
    const limit = wouldBe ? t('would_be', { maximum: wouldBe }) : maximum === null && t('no_limit')
    return (
      <span className={live > (wouldBe ?? live) ? 'warn' : undefined}>{[live, limit].filter(Boolean).join(', ')}</span>
    )
  }
  const isOver = live > maximum
  return (
    <>
      <span>{t('places', { count: live, maximum })}</span>
      {/* biome-ignore lint/a11y/useSemanticElements: each browser has its own way to style a meter. */}
      <span
        role="meter"
        className={isOver ? 'meter full' : 'meter'}
        aria-label={t('sessions_of_limit')}
        aria-valuetext={t('places', { count: live, maximum })}
        aria-valuemin={0}
        aria-valuemax={maximum}
        aria-valuenow={Math.min(live, maximum)}
      >
        <span style={{ inlineSize: `${100 * Math.min(live / maximum || 0, 1)}%` }} />
      </span>
      {isOver && <small>{t('over_limit')}</small>}
    </>
  )
}

/** Renders the menu of a row. */
function PersonMenu({
  user,
  tabIndex,
  onEndAll,
  onErase,
}: {
  user: Person
  tabIndex: number
  /** Undefined if the person is no longer signed in. */
  onEndAll: (() => void) | undefined
  onErase: () => void
}) {
  const t = useTexts()
  const copy = useCopy()
  const query = { user: user.login }
  const itemsOf = () => {
    const isDisabled = !navigator.onLine
    const link = new URL(place.urlOf('sessions', query), window.location.href).href
    return [
      { label: t('open'), onSelect: () => place.setQuery(query) },
      { label: t('copy_link'), onSelect: () => void copy(link) },
      ...(user.url ? [{ label: t('open_in_site'), href: user.url }] : []),
      ...(onEndAll ? [{ label: t('end_all'), isDanger: true, isDisabled, onSelect: onEndAll }] : []),
      { label: t('erase'), isDanger: true, isDisabled, onSelect: onErase },
    ]
  }
  return (
    <Menu className="dots" label={t('actions_of', { name: nameOf(user) })} tabIndex={tabIndex} itemsOf={itemsOf}>
      <span aria-hidden="true">⋯</span>
    </Menu>
  )
}

/** Erases one person, after a confirmation. */
function useErasePerson(onErased: (user: Person) => void) {
  const t = useTexts()
  const [erase] = useCall(
    ({ id }: Person) => rest.request<{ events: number | null }>('POST', 'sessmgr/v1/users/erase', { id: String(id) }),
    {
      failed: 'erase_failed',
      changes: SESSIONS,
      onSuccess({ events }, erased) {
        onErased(erased)
        toasts.show(t(events === null ? 'erase_done_but' : 'erase_done', { name: nameOf(erased) }))
        // Users may have erased themselves.
        void rest.check().catch(() => {})
      },
    },
  )
  return useConfirm((user: Person) => {
    const name = nameOf(user)
    return {
      title: t('erase_title', { name }),
      action: t('erase_action'),
      typed: { label: t('erase_typed', { login: user.login }), text: user.login },
      text: (
        <>
          <p>{t('erase_text', { name })}</p>
          <p>{t('erase_account', { name })}</p>
          <p>
            <strong>{t('erase_final')}</strong>
          </p>
        </>
      ),
    }
  }, erase)
}
