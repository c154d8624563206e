import { type MouseEvent, memo } from 'react'
import { PlaceLink } from '../../parts/links.tsx'
import { Menu } from '../../parts/menu.tsx'
import { useCopy } from '../../parts/use-copy.ts'
import { useOnline } from '../../rest/use-rest.ts'
import { place } from '../../screen.ts'
import { countKey, type Translate, useTexts } from '../../texts/use-texts.ts'
import { IpAddress, Moment } from '../table/cells.tsx'
import type { StillRow } from '../table/rows.ts'
import { nameOf, type Person } from '../use-sessions.ts'
import type { SignedInPerson } from './use-people.ts'

/** Renders one person who is signed in. The whole row is a target for the mouse; the name is the link. */
export const PersonRow = memo(function PersonRow({
  row: { key, item: person, isEnded },
  isCurrent,
  onEndAll,
  onErase,
}: {
  row: StillRow<SignedInPerson>
  /** Whether Tab reaches this row. */
  isCurrent: boolean
  onEndAll: (login: string) => void
  onErase: (user: Person) => void
}) {
  const t = useTexts()
  const { user, ip } = person
  const name = nameOf(user)
  const query = { user: user.login }
  const tabIndex = isCurrent ? 0 : -1

  function open({ target }: MouseEvent): void {
    const isControl = target instanceof Element && target.closest('a, button, [role=menu]')
    if (!isControl && !window.getSelection()?.toString()) place.setQuery(query)
  }

  return (
    <tr className={isEnded ? 'ended' : undefined} tabIndex={tabIndex} data-row={key} onClick={open}>
      <td className="cell-main">
        <Initials name={name} />
        <div>
          <PlaceLink className="row-name" query={query} tabIndex={tabIndex} data-opens>
            <bdi>{name}</bdi>
          </PlaceLink>
          <p className="help one-line">
            <bdi>{user.login}</bdi> · <bdi>{user.email ?? String(user.id)}</bdi>
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
        {person.place ?? <bdi className="number">{ip === null ? t('ip_unknown') : <IpAddress ip={ip} />}</bdi>}
      </td>
      <td className="cell-act">
        <PersonMenu
          user={user}
          tabIndex={tabIndex}
          onEndAll={isEnded ? undefined : () => onEndAll(user.login)}
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

/** Renders the first letters of a name in a circle, where a picture could be. */
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

/** Renders how many sessions a person has, of how many. */
function PlacesUsed({ person: { live, maximum } }: { person: SignedInPerson }) {
  const t = useTexts()
  const counted = t(countKey('live', live), { count: live })
  if (typeof maximum !== 'number') return <span>{maximum === null ? `${counted}, ${t('no_limit')}` : counted}</span>
  return (
    <>
      <span>{t('places', { count: live, maximum })}</span>
      <meter
        className={live >= maximum ? 'full' : undefined}
        aria-label={t('places_used', { count: live, maximum })}
        max={maximum}
        value={Math.min(live, maximum)}
      />
      {live > maximum && <small>{t('over_limit')}</small>}
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
  const isOnline = useOnline()
  const copy = useCopy()
  const query = { user: user.login }
  const open = { label: t('open'), onSelect: () => place.setQuery(query) }
  const copyLink = {
    label: t('copy_link'),
    onSelect: () => void copy(new URL(place.urlOf('sessions', query), window.location.href).href),
  }
  return (
    <Menu
      className="dots"
      label={t('actions_of', { name: nameOf(user) })}
      tabIndex={tabIndex}
      items={[
        open,
        copyLink,
        ...(user.url ? [{ label: t('open_in_site'), href: user.url }] : []),
        ...(onEndAll ? [{ label: t('end_all'), isDanger: true, isDisabled: !isOnline, onSelect: onEndAll }] : []),
        { label: t('erase'), isDanger: true, isDisabled: !isOnline, onSelect: onErase },
      ]}
    >
      <span aria-hidden="true">⋯</span>
    </Menu>
  )
}
