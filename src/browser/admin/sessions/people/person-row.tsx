import { type MouseEvent, memo } from 'react'
import { place } from '../../screen.ts'
import { countKey, type Translate, useTexts } from '../../texts/use-texts.ts'
import { IpAddress } from '../ip-address.tsx'
import { Moment } from '../moment.tsx'
import { PlaceLink } from '../place-link.tsx'
import type { StillRow } from '../table/still-rows.ts'
import { nameOf } from '../use-sessions.ts'
import { Initials } from './initials.tsx'
import { PersonMenu } from './person-menu.tsx'
import { PlacesUsed } from './places-used.tsx'
import type { SignedInPerson } from './use-people.ts'

/** Renders one person who is signed in. The whole row is a target for the mouse; the name is the link. */
export const PersonRow = memo(function PersonRow({
  row: { key, item: person, isEnded },
  isCurrent,
  onEndAll,
}: {
  row: StillRow<SignedInPerson>
  /** Whether Tab reaches this row. */
  isCurrent: boolean
  onEndAll: (person: SignedInPerson) => void
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
        <PersonMenu user={user} tabIndex={tabIndex} onEndAll={isEnded ? undefined : () => onEndAll(person)} />
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
