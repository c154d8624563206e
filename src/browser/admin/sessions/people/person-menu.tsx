import { Menu } from '../../parts/menu.tsx'
import { useCopy } from '../../parts/use-copy.ts'
import { useOnline } from '../../rest/use-online.ts'
import { place } from '../../screen.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { nameOf, type Person } from '../use-sessions.ts'

/** Renders the menu of a row. */
export function PersonMenu({
  user,
  tabIndex,
  onEndAll,
}: {
  user: Person
  tabIndex: number
  /** Undefined if the person is no longer signed in. */
  onEndAll: (() => void) | undefined
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
      ]}
    >
      <span aria-hidden="true">⋯</span>
    </Menu>
  )
}
