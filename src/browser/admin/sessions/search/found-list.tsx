import { countKey, useTexts } from '../../texts/use-texts.ts'
import { nameOf } from '../use-sessions.ts'
import type { FoundPerson } from './use-people-search.ts'

/** Renders the users who were found, below the search field. */
export function FoundList({
  id,
  groups,
  active,
  onOpen,
}: {
  id: string
  groups: readonly { readonly label: string; readonly people: readonly FoundPerson[] }[]
  /** Index of the chosen user over all groups, -1 for none; undefined hides the list. */
  active: number | undefined
  onOpen: (login: string) => void
}) {
  const t = useTexts()
  let index = -1
  return (
    <div
      className="search-list"
      id={`${id}-list`}
      role="listbox"
      tabIndex={-1}
      aria-label={t('search')}
      hidden={active === undefined}
    >
      {groups.map(({ label, people }) => {
        if (people.length === 0) return null
        return (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset must not be in a listbox.
          <div key={label} role="group" aria-label={label}>
            <p aria-hidden="true">{label}</p>
            {people.map(({ user, live }) => {
              index += 1
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the search field has the focus and handles the keys.
                <div
                  key={user.login}
                  id={`${id}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === active}
                  // A press would take the focus from the field, which closes the list.
                  onPointerDown={(event) => event.preventDefault()}
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => onOpen(user.login)}
                >
                  <bdi>{nameOf(user)}</bdi>
                  <span className="help">
                    <bdi>{user.login}</bdi> · {t(countKey('live', live), { count: live })}
                  </span>
                </div>
              )
            })}
          </div>
        )
      })}
    </div>
  )
}
